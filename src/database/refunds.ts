import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely'
import { minutes } from '../kernel/duration.ts'
import type { Money } from '../kernel/money.ts'
import type { RefundRow } from '../payments/match-refund.ts'
import { standingOf, type PaymentStanding } from '../payments/standing.ts'
import { takenBackOf, type TakenBack, type Taking } from '../payments/taken-back.ts'
import { interval } from './interval.ts'
import { findPayments, toPayment } from './payments.ts'
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

/** What of each of these charges went back, in one query. */
export async function takenBack(
  db: Kysely<Tables>,
  charges: readonly (Money & { readonly id: string })[],
): Promise<(charge: Money & { readonly id: string }) => TakenBack> {
  const ids = sql`any(${charges.map(({ id }) => id)}::uuid[])`
  const { rows } = await sql<Taking & { readonly id: string }>`
    select parent_id as id, 'refund' as kind, status, sum(amount)::bigint as amount,
      null as currency, null as reference
    from billing.payments
    where parent_id = ${ids} and status in ('paid', 'pending') group by parent_id, status
    union all
    select payment_id, 'dispute', status, amount, currency, provider_reference
    from billing.disputes where payment_id = ${ids} and status in ('open', 'lost') and not by_refund`.execute(
    db,
  )
  const takings = Map.groupBy(rows, ({ id }) => id)
  return (charge) => takenBackOf(charge, takings.get(charge.id) ?? [])
}

/** How these payments stand, for people; ids without a payment are left out. */
export async function readStandings(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PaymentStanding>> {
  const payments = await findPayments(db, ids)
  if (payments.size === 0) return new Map()
  const takenOf = await takenBack(db, [...payments.values()])
  return new Map([...payments].map(([id, payment]) => [id, standingOf(payment, takenOf(payment))]))
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
