import { sql, type Kysely, type Selectable } from 'kysely'
import { toDispute } from '../database/disputes.ts'
import { interval } from '../database/interval.ts'
import { findPayments } from '../database/payments.ts'
import type { DisputesTable, Tables, WebhookCallsTable } from '../database/tables.ts'
import { dedupKey } from '../events/catalogue.ts'
import type { Duration } from '../kernel/duration.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Claim } from '../outcomes/applied.ts'
import type { Dispute } from '../payments/dispute.ts'

const keyOfStatus = sql`'dispute:' || dispute.status || ':' || dispute.id`

/**
 * The claims of disputes whose status was never dispatched. A listener threw: the dispute is committed
 * and its claim is not. The retry of the call asks the provider again, and the answer no longer has the
 * dispute, so nothing claims it. Each run looks at all disputes that changed between these ages: they
 * are few.
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
  const left = await openCallsOf(db, [...charges.keys()])
  return rows.map(toDispute).flatMap((dispute) => {
    const payment = charges.get(dispute.paymentId)
    if (payment === undefined || left.some((call) => mayHaveReported(call, dispute))) return []
    const type = 'PaymentDisputed'
    const key = dedupKey(type, { dispute: dispute.id, status: dispute.status })
    return [{ eventId: newId(), dedupKey: key, type, subject: { payment, dispute } }]
  })
}

type OpenCall = Pick<Selectable<WebhookCallsTable>, 'payment_id' | 'processed_at'>

/** Calls of these charges that have not ended well. */
async function openCallsOf(
  db: Kysely<Tables>,
  charges: readonly string[],
): Promise<readonly OpenCall[]> {
  if (charges.length === 0) return []
  const { rows } = await sql<OpenCall>`
    select payment_id, processed_at from billing.webhook_calls
    where payment_id = any(${[...charges]}::uuid[])
      and state in ('pending', 'processing', 'failed')`.execute(db)
  return rows
}

/**
 * A dispute does not say which call reported it. One that has not ended well dispatches it itself,
 * unless it had failed before.
 */
function mayHaveReported(call: OpenCall, { paymentId, updatedAt }: Dispute): boolean {
  const { payment_id: id, processed_at: end } = call
  return id === paymentId && (end === null || end >= updatedAt)
}
