import { sql, type Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { claimedBy, type Applied, type Entry, type PaymentEntry } from './applied.ts'

/**
 * The results with what a person should look at: a report that may not hold any more has paid what
 * was canceled. A call that is tried again is marked again; copies of it are not.
 */
export async function reviewLate(
  db: Kysely<Tables>,
  targets: readonly PaymentEntry[],
  applied: ReadonlyMap<Entry, Applied>,
): Promise<ReadonlyMap<Entry, Applied>> {
  const canceling = new Set(targets.filter(cancels).map(({ payment }) => payment.id))
  const doubtful = targets.filter(
    ({ entry, payment }) =>
      entry.outcome.ifCanceled === 'review' &&
      (payment.status === 'canceled' || payment.status === 'paid' || canceling.has(payment.id)),
  )
  if (doubtful.length === 0) return applied
  const { rows } = await sql<{ id: string; call: string | null }>`
    select payment_id as id, webhook_call_id as call from billing.payment_transitions
    where payment_id = any(${doubtful.map(({ payment }) => payment.id)}::uuid[])
      and from_status = 'canceled' and to_status = 'paid'`.execute(db)
  const late = new Map(rows.map(({ id, call }) => [id, call]))
  const marked = new Map(applied)
  for (const { entry, payment } of doubtful) {
    const claimed = claimedBy(entry, applied)
    const isOwn = late.get(payment.id) === entry.report.callId
    if (claimed === undefined || !isOwn) continue
    marked.set(entry, { ...claimed, review: true, detail: 'paid_after_cancel' })
  }
  return marked
}

/** What was pending, or declined, when it was reported as paid is canceled by the same batch at most. */
function cancels({ entry }: PaymentEntry): boolean {
  return entry.outcome.status === 'canceled'
}
