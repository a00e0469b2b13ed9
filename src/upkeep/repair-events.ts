import { sql, type Selectable } from 'kysely'
import { interval } from '../database/interval.ts'
import { toPayment } from '../database/payments.ts'
import type { PaymentsTable } from '../database/tables.ts'
import { paymentDedupKey, refundDedupKey } from '../events/dedup-key.ts'
import { days, minutes } from '../kernel/duration.ts'
import type { Operating } from '../money/operating.ts'
import type { Payment } from '../payments/payment.ts'
import type { Claim } from '../outcomes/applied.ts'
import { deferDispatch } from '../processing/dispatch.ts'

/** What moved so recently may be about to be dispatched. */
const youngest = minutes(10)
/** By how much a run looks back behind the last one. */
const overlap = minutes(30)
const oldest = days(3)
const mostAtOnce = 100

/** The claim of each paid row: see `paymentDedupKey` and `refundDedupKey`. */
const keyOfPaid = sql`
  case payment.type when 'refund' then 'refund' else 'payment' end || ':paid:' || payment.id`

/**
 * Finds payments and refunds that are paid and whose event was never dispatched, with nothing left
 * that would do it: no call, no delivery. Each event is put up for dispatch, and a worker does the
 * rest. Returns how many. Payments that moved since the last run of the schedule are looked at; or,
 * without one, those of three days.
 */
export async function repairEvents(
  { processing, queue }: Operating,
  schedule?: string,
): Promise<number> {
  const { db } = processing.database
  const lastRun = sql`(select last_run_at from billing.schedules where name = ${schedule ?? ''})`
  const { rows } = await sql<Selectable<PaymentsTable>>`
    select payment.* from billing.payments as payment
    where payment.status = 'paid'
      and payment.updated_at > greatest(statement_timestamp() - ${interval(oldest)},
        ${lastRun} - ${interval(youngest + overlap)})
      and payment.updated_at < statement_timestamp() - ${interval(youngest)}
      and not exists (select from billing.events as event where event.dedup_key = ${keyOfPaid})
      and not exists (select from billing.webhook_calls as call
        where call.payment_id = coalesce(payment.parent_id, payment.id)
          and call.state in ('pending', 'processing', 'failed'))
      and not exists (select from billing.deliveries as delivery
        where delivery.dedup_key = ${keyOfPaid} and delivery.state <> 'processed')
    order by payment.updated_at limit ${mostAtOnce}`.execute(db)
  const claims = rows.map((row) => claimOf(toPayment(row), processing.newId()))
  for (const { dedupKey } of claims) {
    processing.log.error({ event: dedupKey }, 'a paid payment has no event; it is dispatched now')
  }
  const now = { attempts: 0, after: 0, exception: null }
  await deferDispatch(db, claims, { cause: 'operator', queue, ...now })
  if (claims.length > 0) processing.onDeliveries()
  return claims.length
}

function claimOf(payment: Payment, eventId: string): Claim {
  const isRefund = payment.type === 'refund'
  return {
    eventId,
    dedupKey: isRefund ? refundDedupKey(payment.id) : paymentDedupKey('paid', payment.id),
    type: isRefund ? 'PaymentRefunded' : 'PaymentSucceeded',
    subject: { payment },
  }
}
