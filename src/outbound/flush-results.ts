import type { Kysely } from 'kysely'
import { insertEndpointDisabled } from '../database/deferred-events.ts'
import { disableEndpoint } from '../database/endpoints.ts'
import {
  endForwards,
  insertAttempts,
  writeForwards,
  type Delivered,
  type ForwardOutcome,
} from '../database/forwards.ts'
import { hasFailedFor, writeProgress, type LeasedEndpoint } from './lease-endpoints.ts'
import type { Tables } from '../database/tables.ts'
import type { DisabledReason, Endpoint } from '../events/endpoint.ts'
import { isOpen, type Health } from './breaker.ts'
import type { Due } from './endpoint-window.ts'
import type { ForwardContext } from './forward-context.ts'
import { failingDisabledAfter, nextAttemptAfter } from './schedule.ts'
import type { Sent } from './send.ts'

/** What became of one request for an event. */
export interface Result {
  /** Of the attempt: written twice, it is one. */
  readonly id: string
  readonly due: Due
  readonly sent: Sent
  /** Only to see whether the endpoint is back: a failure is no attempt of the event. */
  readonly isProbe: boolean
}

/** What is written of an endpoint. */
export interface Written {
  readonly results: readonly Result[]
  readonly position: bigint
  readonly ahead: readonly bigint[]
  readonly health: Health
}

/** `lost`: somebody else has it, nothing is written. `changed`: nothing is to be sent any more. */
export type FlushEnd = 'written' | 'lost' | 'changed'

/** One transaction: how far the endpoint is, what was tried, and what did not go. */
export async function flushResults(
  endpoint: LeasedEndpoint,
  written: Written,
  context: ForwardContext,
): Promise<FlushEnd> {
  const { results, health, ...place } = written
  const outcomes = outcomesOf(results, context)
  const disabled: { endpoint?: Endpoint | undefined } = {}
  const end = await context.database.transaction(async ({ db }): Promise<FlushEnd> => {
    const isFailing = health.failures > 0
    const { failures, rest } = health
    const sent = results.filter(isDealtWith).map(({ due }) => due.row.position)
    const progress = { ...place, sent, failures, isFailing, rest }
    const progressed = await writeProgress(db, endpoint, progress)
    if (progressed === 'lost') return 'lost'
    await insertAttempts(
      db,
      results.map((result) => attemptOf(endpoint, result)),
    )
    await writeForwards(db, endpoint.id, outcomes)
    await endForwards(db, endpoint.id, deliveredOf(results))
    const reason = await reasonToDisable(db, endpoint, written)
    if (progressed === 'changed' || reason === undefined) return progressed
    disabled.endpoint = await disable(db, { id: endpoint.id, reason }, context)
    return 'changed'
  })
  if (end === 'lost') return end
  countRequests(endpoint, results, context)
  for (const { eventId } of outcomes.filter(({ state }) => state === 'failed')) {
    context.log.error({ endpoint: endpoint.name, event: eventId }, 'an event was given up')
  }
  if (disabled.endpoint !== undefined) logDisabled(disabled.endpoint, context)
  return end
}

/** Probes, too. */
function countRequests(
  { name }: LeasedEndpoint,
  results: readonly Result[],
  { numbers }: ForwardContext,
): void {
  for (const { sent } of results) {
    numbers.add('forward_attempts_total', { endpoint: name, result: sent.result })
  }
}

/** A probe that fails leaves its event where it was. */
export function isDealtWith({ sent, isProbe }: Pick<Result, 'sent' | 'isProbe'>): boolean {
  return sent.result === 'delivered' || !isProbe
}

function attemptOf({ id: endpointId }: LeasedEndpoint, { id, due, sent, isProbe }: Result) {
  const { result, status, durationMs, response } = sent
  const attempt = isProbe && result !== 'delivered' ? 0 : due.attempts + 1
  return {
    id,
    endpointId,
    eventId: due.row.id,
    attempt,
    result,
    status,
    durationMs,
    response,
  }
}

/** Those that have got there; rows of their own end with it, whoever has made them meanwhile. */
function deliveredOf(results: readonly Result[]): readonly Delivered[] {
  return results
    .filter(({ sent }) => sent.result === 'delivered')
    .map(({ due: { row, asOf } }) => ({ eventId: row.id, asOf }))
}

/** Of those that did not go: each has a row of its own, or gets one. */
function outcomesOf(
  results: readonly Result[],
  { random }: ForwardContext,
): readonly ForwardOutcome[] {
  return results.flatMap(({ due, sent, isProbe }): readonly ForwardOutcome[] => {
    const { row, attempts: before, asOf } = due
    const event = { eventId: row.id, position: row.position, asOf }
    if (sent.result === 'delivered' || isProbe) return []
    const attempts = before + 1
    const after = nextAttemptAfter(attempts, random())
    if (after === undefined) return [{ ...event, state: 'failed', attempts, after }]
    const asked = Math.max(after, sent.retryAfter ?? 0)
    return [{ ...event, state: 'pending', attempts, after: asked }]
  })
}

async function reasonToDisable(
  db: Kysely<Tables>,
  { id }: LeasedEndpoint,
  { results, health }: Written,
): Promise<DisabledReason | undefined> {
  if (results.some(({ sent }) => sent.result === 'gone')) return 'gone'
  const isTried = results.length > 0 && isOpen(health)
  return isTried && (await hasFailedFor(db, id, failingDisabledAfter)) ? 'failing' : undefined
}

/** Undefined: it is disabled already. The event of it is claimed like any other. */
export async function disable(
  db: Kysely<Tables>,
  { id, reason }: { readonly id: string; readonly reason: DisabledReason },
  { newId, queue }: Pick<ForwardContext, 'newId' | 'queue'>,
): Promise<Endpoint | undefined> {
  const endpoint = await disableEndpoint(db, id, reason)
  if (endpoint !== undefined && reason !== 'operator') {
    await insertEndpointDisabled(db, endpoint, { newId, queue })
  }
  return endpoint
}

function logDisabled({ id, name, disabledReason }: Endpoint, { log, wake }: ForwardContext): void {
  log.error({ endpoint: id, name, reason: disabledReason }, 'an endpoint was disabled')
  wake('subscription_events')
}
