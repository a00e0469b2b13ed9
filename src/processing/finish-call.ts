import { sql, type Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { OutcomeResult } from '../payments/outcome.ts'
import type { Lease } from '../queue/lease.ts'
import type { Applied } from './apply-outcomes.ts'

const leaseLostName = 'LeaseLost'

/** Another worker has the call: whoever meets this rolls back and touches nothing. */
export function leaseLost(lease: Lease): Error {
  return Object.assign(new Error(`lease of ${lease.id} lost`), { name: leaseLostName })
}

export function isLeaseLost(error: unknown): boolean {
  return error instanceof Error && error.name === leaseLostName
}

export interface Finish {
  readonly applied: readonly Applied[]
  /** Keys of the claims that this call won; its other claims were taken before. */
  readonly won: ReadonlySet<string>
}

/** Ends a call in the transaction that applied it; throws `leaseLost` if it is not ours any more. */
export async function finishCall(
  db: Kysely<Tables>,
  lease: Lease,
  { applied, won }: Finish,
): Promise<void> {
  const results = applied.map((one) => resultOf(one, won))
  const ignored = applied.filter((one) => one.kind === 'ignored')
  const { numUpdatedRows } = await db
    .updateTable('billing.webhook_calls')
    .set({
      state: ignored.length === applied.length ? 'ignored' : 'processed',
      outcome: JSON.stringify(results),
      needs_review: ignored.some((one) => one.review),
      payment_id: paymentIdOf(applied),
      awaiting: ignored.find((one) => one.awaiting !== undefined)?.awaiting ?? null,
      exception: null,
      lease_token: null,
      lease_until: null,
      processed_at: sql<Date>`clock_timestamp()`,
    })
    .where('id', '=', lease.id)
    .where('lease_token', '=', lease.token)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows !== 1n) throw leaseLost(lease)
}

function resultOf(applied: Applied, won: ReadonlySet<string>): OutcomeResult {
  if (applied.kind === 'ignored') return applied.result
  const { type, claim } = applied
  return { result: won.has(claim.dedupKey) ? 'applied' : 'duplicate', type }
}

function paymentIdOf(applied: readonly Applied[]): string | null {
  for (const one of applied) {
    const payment = one.kind === 'claim' ? one.claim.payment : one.payment
    if (payment !== undefined) return payment.id
  }
  return null
}
