import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../database/connect.ts'
import { isPassing } from '../database/failure.ts'
import type { Registry } from '../gateways/registry.ts'
import { days, type Duration } from '../kernel/duration.ts'
import { isQuittanceError } from '../kernel/errors.ts'
import { exceptionText } from '../kernel/exception-text.ts'
import type { Log } from '../kernel/log.ts'
import { lostByListener } from '../listeners/dispatch-events.ts'
import { isListenerMissing } from '../listeners/listeners.ts'
import { applyOutcomes } from '../outcomes/apply-outcomes.ts'
import { webhookCalls, type LeasedCall } from '../queue/calls.ts'
import { postponeRow } from '../leases/queue-rows.ts'
import { isLeaseLost } from '../leases/leased-table.ts'
import { releaseToOthers, returnAfter } from '../queue/return-after.ts'
import { mayReturn } from '../queue/retry.ts'
import type { ProcessingContext } from './context.ts'
import { knownOf, reportOf, type CallEnd } from './end-calls.ts'
import { failCall, noteFailedCall, type FailedCall } from './fail-attempt.ts'
import type { InterpretedCall, UninterpretedCall } from './interpret-call.ts'

/**
 * What becomes of calls whose transaction was rolled back. Of several, only the one whose listener
 * lost the transaction has used an attempt; each of the others goes on alone. Never rejects.
 */
export async function afterRollback(
  calls: readonly InterpretedCall[],
  error: unknown,
  context: ProcessingContext,
): Promise<readonly (CallEnd | 'left')[]> {
  if (isListenerMissing(error)) return leaveAll(calls, error, context)
  const lost = lostByListener(error)
  if (calls.length > 1) {
    const entry = { err: lost?.error ?? error, calls: calls.length }
    context.log.warn(entry, 'a batch failed; each call goes alone')
  }
  const ends = calls.map(async (one, index) => {
    const isBlamed = calls.length === 1 || index === lost?.index
    if (!isBlamed) return 'left'
    one.span?.threw(lost?.error ?? error)
    return orLost(one.call, context, recover(one, error, context))
  })
  return Promise.all(ends)
}

/** What becomes of a call that could not be interpreted. Never rejects. */
export async function afterFailure(
  { call, error }: UninterpretedCall,
  context: ProcessingContext,
): Promise<CallEnd> {
  return orLost(call, context, postponeOrFail(call, error, context))
}

/** This process may not claim: no attempt of the calls is used. */
async function leaveAll(
  calls: readonly InterpretedCall[],
  error: unknown,
  context: ProcessingContext,
): Promise<readonly CallEnd[]> {
  const leases = calls.map(({ call }) => call)
  const left = releaseToOthers({ ...context, error }, webhookCalls, leases)
  const ends = leases.map((call) =>
    orLost(
      call,
      context,
      left.then(() => 'returned' as const),
    ),
  )
  return Promise.all(ends)
}

/**
 * If another worker has the call, nothing is written. If even the failure cannot be recorded, the
 * lease runs out and another worker takes over.
 */
async function orLost(
  { id }: LeasedCall,
  { log }: ProcessingContext,
  end: Promise<CallEnd>,
): Promise<CallEnd> {
  try {
    return await end
  } catch (error) {
    if (isLeaseLost(error)) log.warn({ call: id }, lostText)
    else log.error({ err: error, call: id }, 'lease left to run out')
    return 'lost'
  }
}

const lostText = 'lease lost while processing; another worker has the call, or it has ended'

/**
 * Whatever a listener did to the transaction must not keep a paid payment pending. A failure that
 * is nobody's fault costs the call no attempt.
 */
async function recover(
  interpreted: InterpretedCall,
  error: unknown,
  context: ProcessingContext,
): Promise<CallEnd> {
  const { call } = interpreted
  if (isBlameless(error, call)) return endBlameless(call, error, context)
  try {
    const failed = await applyWithoutListeners(interpreted, error, context)
    noteFailedCall(context, call, failed)
    return 'failed'
  } catch (second) {
    if (isBlameless(second, call)) return endBlameless(call, second, context)
    return postponeOrFail(call, second, context)
  }
}

/** Another worker has the call, or the database failed for a moment. */
function isBlameless(error: unknown, call: LeasedCall): boolean {
  return isLeaseLost(error) || (isPassing(error) && mayReturn(call))
}

async function endBlameless(
  call: LeasedCall,
  error: unknown,
  context: ProcessingContext,
): Promise<CallEnd> {
  if (isLeaseLost(error)) throw error
  await returnAfter({ ...context, error }, webhookCalls, call)
  return 'returned'
}

async function postponeOrFail(
  call: LeasedCall,
  error: unknown,
  context: ProcessingContext,
): Promise<CallEnd> {
  if (await postponeCall(call, context, error)) return 'returned'
  const { database, newId, scrub } = context
  await database.transaction(({ db }) => failCall(db, call, { error, newId, scrub }))
  noteFailedCall(context, call, { error })
  return 'failed'
}

const tries = 5
const pauseMs = 1_000

/**
 * A second, short transaction applies the payments' status and records the attempt, so that no
 * listener keeps a paid payment `pending`. Returns what it recorded.
 */
async function applyWithoutListeners(
  interpreted: InterpretedCall,
  error: unknown,
  context: ProcessingContext,
): Promise<FailedCall> {
  const { call } = interpreted
  const { database, newId, scrub } = context
  const lost = lostByListener(error)
  const once = () =>
    database.transaction(async ({ db }) => {
      const applied = (await applyOutcomes(db, [reportOf(interpreted)], context)).flat()
      const failed = { error: lost?.error ?? error, newId, scrub, ...knownOf(applied) }
      await failCall(db, call, failed)
      return failed
    })
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once()
    } catch (second) {
      // The cut transaction may hold its locks until the server notices.
      if (!isPassing(second) || attempt >= tries) throw second
      await pause(pauseMs)
    }
  }
}

interface PostponeContext {
  readonly database: Database
  readonly gateways: Registry
  readonly log: Log
  scrub(text: string): string
}

/** An outage may last longer than the provider repeats its callbacks. */
const shortestPatience: Duration = days(1)

/**
 * Postpones a call that cannot be interpreted because the provider cannot be asked: no attempt is
 * used as long as the provider itself would repeat the callback, and the pauses grow. False if the
 * failure is another one or has lasted too long: then it counts as an attempt.
 */
async function postponeCall(
  call: LeasedCall,
  { database, gateways, log, scrub }: PostponeContext,
  error: unknown,
): Promise<boolean> {
  if (!isQuittanceError(error) || error.code !== 'provider_unreachable') return false
  // Stryker disable next-line OptionalChaining: a gateway that is not registered asks nobody
  const retryWindow = gateways.find(call.gateway)?.gateway.retryWindow ?? 0
  const pause = await postponeRow(database.db, webhookCalls, {
    lease: call,
    patience: Math.max(retryWindow, shortestPatience),
    exception: exceptionText(error, scrub),
  })
  if (pause === undefined) return false
  const entry = { err: error, call: call.id, gateway: call.gateway, retryInSeconds: pause / 1000 }
  log.warn(entry, 'the provider cannot be asked: tried again later, no attempt is used')
  return true
}
