import { sql, type Kysely, type Selectable } from 'kysely'
import { toDispute } from '../database/disputes.ts'
import { interval } from '../database/interval.ts'
import { findPayments } from '../database/payments.ts'
import type { DisputesTable, Tables } from '../database/tables.ts'
import { disputeDedupKey } from '../events/dedup-key.ts'
import type { Duration } from '../kernel/duration.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Claim } from '../outcomes/applied.ts'

const keyOfStatus = sql`'dispute:' || dispute.status || ':' || dispute.id`

/**
 * The claims of disputes whose status was never dispatched: a process of a version without the
 * event recorded them. Disputes are few, so each run looks at all that changed between these ages.
 */
export async function findLostDisputes(
  db: Kysely<Tables>,
  { youngest, oldest }: { readonly youngest: Duration; readonly oldest: Duration },
  newId: NewId,
): Promise<readonly Claim[]> {
  const { rows } = await sql<Selectable<DisputesTable>>`
    select dispute.* from billing.disputes as dispute
    where dispute.updated_at > statement_timestamp() - ${interval(oldest)}
      and dispute.updated_at < statement_timestamp() - ${interval(youngest)}
      and not exists (select from billing.events as event where event.dedup_key = ${keyOfStatus})
      and not exists (select from billing.deliveries as delivery
        where delivery.dedup_key = ${keyOfStatus} and delivery.state <> 'processed')
    order by dispute.updated_at, dispute.id`.execute(db)
  const charges = await findPayments(db, [...new Set(rows.map((row) => row.payment_id))])
  const left = await chargesOfOpenCalls(db, [...charges.keys()])
  return rows.map(toDispute).flatMap((dispute) => {
    const payment = charges.get(dispute.paymentId)
    if (payment === undefined || left.has(payment.id)) return []
    const dedupKey = disputeDedupKey(dispute)
    return [{ eventId: newId(), dedupKey, type: 'PaymentDisputed', subject: { payment, dispute } }]
  })
}

/** A dispute does not say which call reported it; one that has not ended well dispatches it itself. */
async function chargesOfOpenCalls(
  db: Kysely<Tables>,
  charges: readonly string[],
): Promise<ReadonlySet<string>> {
  if (charges.length === 0) return new Set()
  const { rows } = await sql<{ payment_id: string }>`
    select distinct payment_id from billing.webhook_calls
    where payment_id = any(${[...charges]}::uuid[])
      and state in ('pending', 'processing', 'failed')`.execute(db)
  return new Set(rows.map((row) => row.payment_id))
}
