import { sql } from 'kysely'
import { recordCheckout } from '../database/checkouts.ts'
import { wakeSubscriptionOf } from '../queue/due-subscriptions.ts'
import { isPassing } from '../database/failure.ts'
import { interval } from '../database/interval.ts'
import { findPayment } from '../database/payments.ts'
import { findPeriod } from '../database/subscription-periods.ts'
import { days, minutes, type Duration } from '../kernel/duration.ts'
import type { Payment } from '../payments/payment.ts'
import { gatewayOf } from './ask-provider.ts'
import { closeCheckout } from './close-checkout.ts'
import type { MoneyContext } from './context.ts'
import { pollPayment } from './poll-payment.ts'
import { cancel } from './write-off.ts'

/** A payer who has just paid must not find the page gone. */
const grace: Duration = minutes(15)

/**
 * Ends a page, or a charge that waits for its payer. While its period is owed, only if it certainly
 * cannot be paid any more: closed at the provider, or over. Otherwise it stays, and the card waits:
 * old card and page never both pay. What nobody owes is no longer offered in any case. Best effort:
 * what is left open is tried again.
 */
export async function closePage(id: string, now: Date, context: MoneyContext): Promise<void> {
  const { database, log } = context.processing
  const payment = await findPayment(database.db, id)
  if (payment === undefined || payment.periodId === null || payment.status === 'paid') return
  const period = await findPeriod(database.db, payment.periodId)
  try {
    const isOwed = period?.state === 'open'
    const isOver = isOwed
      ? await isUnpayable(payment, now, context)
      : await end(payment, now, context)
    if (isOver) await close(payment, now, context)
  } catch (error) {
    if (isPassing(error)) throw error
    log.info({ err: error, payment: id }, 'a page of a subscription stays open')
  }
}

/** A page that has ended this long ago is not asked about any more: nobody can pay there. */
const longestAsked: Duration = days(1)

/**
 * Pages of periods that are not owed any more: paid otherwise, or given up. In any order, so that
 * those that cannot be closed now keep no others waiting. Only live payments of periods are read, by
 * their index, and their own periods; a join would be free to walk through all periods. `signal` ends
 * it between two pages: a provider that does not answer takes long for each.
 */
export async function closeForgottenPages(
  context: MoneyContext,
  signal?: AbortSignal,
): Promise<void> {
  const { database, subscriptionTime } = context.processing
  const now = await subscriptionTime(database.db)
  const { rows } = await sql<{ id: string }>`
    select id from billing.payments as payment
    where period_id is not null and status <> 'paid' and checkout = 'open'
      and payment_method_id is null
      and (expires_at is null or expires_at > ${now}::timestamptz - ${interval(longestAsked)})
      and (select state from billing.subscription_periods where id = payment.period_id) <> 'open'
    order by random() limit 100`.execute(database.db)
  for (const { id } of rows) {
    if (signal?.aborted === true) return
    await closePage(id, now, context)
  }
}

async function end(payment: Payment, now: Date, context: MoneyContext): Promise<boolean> {
  const answer = await closeCheckout(payment, context)
  if (answer === 'closed') return true
  const { status, paymentMethodId } = payment
  // Declined and ended by itself: no poll says anything of it any more.
  const isSettled = status === 'failed' && hasEnded(payment, now)
  return isSettled || (answer === 'not_offered' && paymentMethodId === null)
}

function hasEnded({ expiresAt }: Payment, now: Date): boolean {
  return expiresAt !== null && now.getTime() > expiresAt.getTime() + grace
}

async function isUnpayable(payment: Payment, now: Date, context: MoneyContext): Promise<boolean> {
  if ((await closeCheckout(payment, context)) === 'closed') return true
  const isOver = hasEnded(payment, now)
  // A poll cancels it then; a declined one stays declined, and one that cannot be polled is left.
  const isPolled = gatewayOf(payment, context).gateway.poll !== undefined
  if (isOver && isPolled) await pollPayment(payment.id, context)
  return isOver && (payment.status === 'failed' || !isPolled)
}

/** One that was declined stays so; its subscription can go on. */
async function close({ id }: Payment, now: Date, context: MoneyContext): Promise<void> {
  const { db } = context.processing.database
  const payment = await findPayment(db, id)
  if (payment?.status === 'pending') await cancel(payment, context, 'service')
  if (payment?.status !== 'failed' || payment.periodId === null) return
  await recordCheckout(db, id, { state: 'closed', error: payment.operationError })
  await wakeSubscriptionOf(db, payment.periodId, now)
}
