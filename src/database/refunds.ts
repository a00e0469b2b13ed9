import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely'
import { minutes } from '../kernel/duration.ts'
import type { RefundRow } from '../payments/match-refund.ts'
import { interval } from './interval.ts'
import { toPayment } from './payments.ts'
import type { PaymentsTable, Tables } from './tables.ts'

/** By then a provider has answered, or never will. */
const underWayFor = minutes(1)

/** The ids of a payment and of its refunds, as an array. */
export function withRefunds(paymentId: string | null): RawBuilder<unknown> {
  return sql`array(select ${paymentId}::uuid union all
    select id from billing.payments where parent_id = ${paymentId}::uuid)`
}

/** The refunds of a charge, oldest first. */
export async function refundsOf(
  db: Kysely<Tables>,
  chargeId: string,
): Promise<readonly RefundRow[]> {
  const { rows } = await sql<
    Selectable<PaymentsTable> & { readonly claimed: boolean; readonly under_way: boolean }
  >`
    select refund.*, exists (
        select from billing.events as event
        where event.payment_id = refund.id and event.type = 'PaymentRefunded') as claimed,
      status = 'pending' and answered_at is null and coalesce(
        handed_at > statement_timestamp() - ${interval(underWayFor)}, false) as under_way
    from billing.payments as refund
    where refund.parent_id = ${chargeId}
    order by refund.created_at, refund.id`.execute(db)
  return rows.map(({ claimed, under_way: underWay, ...row }) => ({
    refund: toPayment(row),
    claimed,
    underWay,
  }))
}

/** Records that the provider answered the request for a refund, and why not with a yes. */
export async function recordRefundAnswer(
  db: Kysely<Tables>,
  refundId: string,
  error: string | null,
): Promise<void> {
  await db
    .updateTable('billing.payments')
    .set({ answered_at: sql<Date>`statement_timestamp()`, operation_error: error })
    .where('id', '=', refundId)
    .where('type', '=', 'refund')
    .execute()
}
