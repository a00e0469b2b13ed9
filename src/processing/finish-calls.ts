import { sql, type Kysely } from 'kysely'
import type { CallState, Tables } from '../database/tables.ts'
import type { OutcomeResult } from '../payments/outcome.ts'
import { leaseLost, type Lease } from '../queue/lease.ts'
import { needsReview, type Applied } from '../outcomes/applied.ts'

/** A call whose outcomes are applied. */
export interface FinishedCall {
  readonly call: Lease
  readonly applied: readonly Applied[]
  /** Ids of the events that its claims won; its other claims were taken before. */
  readonly won: ReadonlySet<string>
}

/** Ends calls in the transaction that applied them; throws `leaseLost` if one is not ours any more. */
export async function finishCalls(
  db: Kysely<Tables>,
  finished: readonly FinishedCall[],
): Promise<void> {
  if (finished.length === 0) return
  const awaiting = finished.map(({ applied }) => awaitingOf(applied))
  const { rows } = await sql<{ id: string }>`
    update billing.webhook_calls as call
    set state = finished.state, outcome = finished.outcome,
      needs_review = finished.needs_review, payment_id = finished.payment_id,
      awaiting = finished.awaiting, awaiting_also = finished.awaiting_also, exception = null,
      lease_token = null, lease_until = null, processed_at = clock_timestamp()
    from unnest(
      ${finished.map(({ call }) => call.id)}::uuid[],
      ${finished.map(({ call }) => call.token)}::uuid[],
      ${finished.map(({ applied }) => stateOf(applied))}::text[],
      ${finished.map(outcomeOf)}::json[],
      ${finished.map(({ applied }) => needsReview(applied))}::boolean[],
      ${finished.map(({ applied }) => paymentIdOf(applied))}::uuid[],
      ${awaiting.map(([first = null]) => first)}::text[],
      ${awaiting.map(([, second = null]) => second)}::text[]
    ) as finished
      (id, token, state, outcome, needs_review, payment_id, awaiting, awaiting_also)
    where call.id = finished.id and call.lease_token = finished.token
    returning call.id`.execute(db)
  if (rows.length === finished.length) return
  const ours = new Set(rows.map((row) => row.id))
  for (const { call } of finished) if (!ours.has(call.id)) throw leaseLost(call)
}

function ignoredOf(applied: readonly Applied[]) {
  return applied.filter((one) => one.kind === 'ignored')
}

function stateOf(applied: readonly Applied[]): CallState {
  return ignoredOf(applied).length === applied.length ? 'ignored' : 'processed'
}

function outcomeOf({ applied, won }: FinishedCall): string {
  return JSON.stringify(applied.map((one) => resultOf(one, won)))
}

/** Each name once: one that the provider gives, and one that others can have written. */
function awaitingOf(applied: readonly Applied[]): readonly string[] {
  return [...new Set(ignoredOf(applied).flatMap(({ awaiting }) => awaiting))]
}

function resultOf(applied: Applied, won: ReadonlySet<string>): OutcomeResult {
  if (applied.kind !== 'claim') return applied.result
  const { type, claim } = applied
  const isWon = won.has(claim.eventId)
  const result = isWon ? 'applied' : 'duplicate'
  const detail = isWon && claim.superseded === true ? 'superseded' : applied.detail
  return detail === undefined ? { result, type } : { result, type, detail }
}

function paymentIdOf(applied: readonly Applied[]): string | null {
  return applied.find((one) => one.payment !== undefined)?.payment?.id ?? null
}
