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

/** What of a charge went back, in minor units. */
export interface TakenBack {
  readonly refunded: bigint
  /** With what is on its way back: no further refund may take it. */
  readonly reserved: bigint
}

const nothing: TakenBack = { refunded: 0n, reserved: 0n }

/** What of each of these charges went back, in one query. */
export async function takenBack(
  db: Kysely<Tables>,
  chargeIds: readonly string[],
): Promise<(chargeId: string) => TakenBack> {
  const { rows } = await sql<TakenBack & { readonly parent_id: string }>`
    select parent_id, sum(amount)::bigint as reserved,
      coalesce(sum(amount) filter (where status = 'paid'), 0)::bigint as refunded
    from billing.payments
    where parent_id = any(${[...chargeIds]}::uuid[]) and status in ('paid', 'pending')
    group by parent_id`.execute(db)
  const sums = new Map(rows.map((row) => [row.parent_id, row]))
  return (chargeId) => sums.get(chargeId) ?? nothing
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
