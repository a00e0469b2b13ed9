import { sql } from 'kysely'
import { refundDedupKey, paymentDedupKey } from '../events/dedup-key.ts'
import { toPayment } from '../database/payments.ts'
import type { PaymentsTable } from '../database/tables.ts'
import type { Operating } from '../money/operating.ts'
import type { Selectable } from 'kysely'
import { deferDispatch } from '../processing/dispatch.ts'
import type { Claim } from '../processing/applied.ts'

/** What moved so recently may be about to be dispatched; what moved long ago has been looked at. */
const from = sql`clock_timestamp() - interval '3 days'`
const until = sql`clock_timestamp() - interval '10 minutes'`
const mostAtOnce = 100

/**
 * Finds payments and refunds that are paid and whose event was never dispatched, with nothing left
 * that would do it: no call, no delivery. Each event is put up for dispatch, and a worker does the
 * rest. Returns how many.
 */
export async function repairEvents({ processing, queue }: Operating): Promise<number> {
  const { db } = processing.database
  const { rows } = await sql<Selectable<PaymentsTable>>`
    select payment.* from billing.payments as payment
    where payment.status = 'paid' and payment.updated_at between ${from} and ${until}
      and not exists (select from billing.events as event where event.dedup_key =
        case payment.type when 'refund' then 'refund' else 'payment' end || ':paid:' || payment.id)
      and not exists (select from billing.webhook_calls as call
        where call.payment_id = coalesce(payment.parent_id, payment.id)
          and call.state in ('pending', 'processing', 'failed'))
      and not exists (select from billing.deliveries as delivery
        where delivery.payment_id = payment.id)
    order by payment.updated_at limit ${mostAtOnce}`.execute(db)
  const claims = rows.map((row): Claim => {
    const payment = toPayment(row)
    const isRefund = payment.type === 'refund'
    return {
      eventId: processing.newId(),
      dedupKey: isRefund ? refundDedupKey(payment.id) : paymentDedupKey('paid', payment.id),
      type: isRefund ? 'PaymentRefunded' : 'PaymentSucceeded',
      subject: { payment },
    }
  })
  for (const { dedupKey } of claims) {
    processing.log.error({ event: dedupKey }, 'a paid payment has no event; it is dispatched now')
  }
  await deferDispatch(db, claims, {
    cause: 'operator',
    queue,
    attempts: 0,
    after: 0,
    exception: null,
  })
  if (claims.length > 0) processing.onDeliveries()
  return claims.length
}
