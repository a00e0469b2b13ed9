import { sql, type Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { claimedBy, type Applied, type Entry, type PaymentEntry } from './applied.ts'

/**
 * The results, marked for a person if a report that may be out of date has paid a canceled payment.
 * A call that is retried is marked again; copies of it are not.
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

/**
 * If it was pending or declined when it was reported as paid, only the same batch can have canceled
 * it.
 */
function cancels({ entry }: PaymentEntry): boolean {
  return entry.outcome.status === 'canceled'
}
