import { sql, type Kysely, type Selectable } from 'kysely'
import { interval } from '../database/interval.ts'
import { toPayment } from '../database/payments.ts'
import type { PaymentsTable, Tables } from '../database/tables.ts'
import { paymentDedupKey, refundDedupKey } from '../events/dedup-key.ts'
import { days, minutes } from '../kernel/duration.ts'
import type { MoneyContext } from '../money/context.ts'
import type { Payment } from '../payments/payment.ts'
import type { Claim } from '../outcomes/applied.ts'
import { deferEvents } from '../processing/deferred-events.ts'

/** What moved this recently may be about to be dispatched. */
const youngest = minutes(10)
/** How far back a run looks before the last one, at least. */
const overlap = minutes(30)
const oldest = days(3)
const pageRows = 100

/** The claim of each paid row: see `paymentDedupKey` and `refundDedupKey`. */
const keyOfPaid = sql`
  case payment.type when 'refund' then 'refund' else 'payment' end || ':paid:' || payment.id`

/**
 * The call that moved the payment dispatches its event: it is retried, or replayed. A call that has
 * not ended is waited for as long as another run looks back this far; then the event goes out
 * without it, and the call finds it claimed.
 */
const isLeftToItsCall = sql`exists (
  select from billing.payment_transitions as transition
  join billing.webhook_calls as call on call.id = transition.webhook_call_id
  where transition.payment_id = payment.id and transition.to_status = 'paid'
    and (call.state = 'failed' or (call.state in ('pending', 'processing')
      and payment.updated_at > statement_timestamp() - ${interval(overlap)})))`

/**
 * Finds payments and refunds that are paid and whose event was never dispatched, with nothing left
 * to dispatch it: neither the call that moved them nor a deferred event. Each event is deferred,
 * and a worker does the rest. Returns how many. Looks at payments that moved since the last run
 * began, or, without one, at those of three days.
 */
export async function repairEvents(
  { processing, queue }: MoneyContext,
  lastRunAt?: Date,
): Promise<number> {
  const { db } = processing.database
  let repaired = 0
  let last: Selectable<PaymentsTable> | undefined
  for (;;) {
    const rows = await findWithoutEvent(db, lastRunAt, last)
    const claims = rows.map((row) => claimOf(toPayment(row), processing.newId()))
    for (const { dedupKey } of claims) {
      processing.log.error({ event: dedupKey }, 'a paid payment has no event; it is dispatched now')
    }
    const now = { attempts: 0, after: 0, exception: null }
    await deferEvents(db, claims, { cause: 'operator', queue, ...now })
    if (claims.length > 0) processing.wake()
    repaired += claims.length
    last = rows.at(-1)
    if (rows.length < pageRows) return repaired
  }
}

/** The next page; `after`: the last row of the page before it. */
async function findWithoutEvent(
  db: Kysely<Tables>,
  lastRunAt: Date | undefined,
  after: Selectable<PaymentsTable> | undefined,
): Promise<readonly Selectable<PaymentsTable>[]> {
  const { rows } = await sql<Selectable<PaymentsTable>>`
    select payment.* from billing.payments as payment
    where payment.status = 'paid'
      and payment.updated_at > greatest(statement_timestamp() - ${interval(oldest)},
        ${lastRunAt ?? null}::timestamptz - ${interval(youngest + overlap)})
      and payment.updated_at < statement_timestamp() - ${interval(youngest)}
      ${after === undefined ? sql`` : sql`and (payment.updated_at, payment.id) > (${after.updated_at}, ${after.id}::uuid)`}
      and not exists (select from billing.events as event where event.dedup_key = ${keyOfPaid})
      and not exists (select from billing.deliveries as delivery
        where delivery.dedup_key = ${keyOfPaid} and delivery.state <> 'processed')
      and not ${isLeftToItsCall}
    order by payment.updated_at, payment.id limit ${pageRows}`.execute(db)
  return rows
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
