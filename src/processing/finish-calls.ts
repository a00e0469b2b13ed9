import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { CallState } from '../events/webhook-call.ts'
import { webhookCalls } from '../queue/calls.ts'
import { finishRows } from '../leases/queue-rows.ts'
import { leaseLost, type Lease } from '../leases/leased-table.ts'
import { awaitedBy, claimsIn, needsReview, type Applied } from '../outcomes/applied.ts'

/** A call whose outcomes are applied. */
export interface FinishedCall {
  readonly call: Lease
  readonly applied: readonly Applied[]
  /** Ids of the events that its claims won; its other claims were taken before. */
  readonly won: ReadonlySet<string>
}

/**
 * Finishes calls in the transaction that applied them; an open review of an earlier run keeps some of
 * them marked. Throws `leaseLost`.
 */
export async function finishCalls(
  db: Kysely<Tables>,
  finished: readonly FinishedCall[],
  stillMarked: ReadonlySet<string>,
): Promise<void> {
  // One name that the provider gives, and one that others may have written.
  const awaiting = finished.map(({ applied }) => awaitedBy(applied))
  const [lost] = await finishRows(db, webhookCalls, {
    leases: finished.map(({ call }) => call),
    columns: {
      state: { type: 'text', values: finished.map(({ applied }) => stateOf(applied)) },
      outcome: { type: 'json', values: finished.map(outcomeOf) },
      // Those of an earlier run still hold.
      dedup_claims: { type: 'jsonb', values: finished.map(claimsOf), isAdded: true },
      needs_review: {
        type: 'boolean',
        values: finished.map(
          ({ call, applied }) => needsReview(applied) || stillMarked.has(call.id),
        ),
      },
      payment_id: {
        type: 'uuid',
        values: finished.map(({ applied }) => paymentIdOf(applied) ?? null),
      },
      awaiting: { type: 'text', values: awaiting.map(([first = null]) => first) },
      awaiting_also: { type: 'text', values: awaiting.map(([, second = null]) => second) },
    },
  })
  if (lost !== undefined) throw leaseLost(lost)
}

function ignoredOf(applied: readonly Applied[]) {
  return applied.filter((one) => one.kind === 'ignored')
}

export function stateOf(applied: readonly Applied[]): CallState {
  return ignoredOf(applied).length === applied.length ? 'ignored' : 'processed'
}

function outcomeOf({ applied, won }: FinishedCall): string {
  return JSON.stringify(applied.map((one) => resultOf(one, won)))
}

function claimsOf({ applied, won }: FinishedCall): string {
  const kept = claimsIn(applied).filter(({ eventId }) => won.has(eventId))
  return JSON.stringify(kept.map(({ dedupKey }) => dedupKey))
}

/** As it is stored; there, what is undefined is left out. */
function resultOf(applied: Applied, won: ReadonlySet<string>) {
  if (applied.kind !== 'claim') return applied.result
  const { type, claim } = applied
  const isWon = won.has(claim.eventId)
  const result = isWon ? 'applied' : 'duplicate'
  const detail = isWon && claim.superseded === true ? 'superseded' : applied.detail
  return { result, type, detail }
}

/** The charge that a call is filed under: the first that it is about. */
export function paymentIdOf(applied: readonly Applied[]): string | undefined {
  return applied.map(({ payment }) => payment?.id).find((id) => id !== undefined)
}
