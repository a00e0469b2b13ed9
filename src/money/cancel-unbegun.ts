import { readSubscriptionState } from '../database/lock-subscriptions.ts'
import { isQuittanceError, QuittanceError } from '../kernel/errors.ts'
import type { Payment } from '../payments/payment.ts'
import { cancelUnbegun } from '../subscriptions/cancel-unbegun.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { closeForPayer, dropPayment } from './cancel-payment.ts'
import { decide, refusal, requireSubscription } from './carry-out.ts'
import type { MoneyContext } from './context.ts'

/**
 * Ends a subscription whose provider is not known to have begun it: its checkout is closed there
 * first, for whoever pays on it has a subscription at the provider, ended here or not. As it is then;
 * with a `providerReference` if it has begun after all, and then nothing else was done. Errors:
 * `renewal_under_way`, `subscription_ended`, `checkout_unknown`, those of the provider.
 */
export async function endUnbegun(
  subscription: Subscription,
  context: MoneyContext,
): Promise<Subscription> {
  const { database, gateways } = context.processing
  const { id } = subscription
  const { live } = await readSubscriptionState(database.db, subscription, gateways)
  const checkout = live === null ? null : await closed(live.id, context)
  if (checkout === 'completed') {
    const known = await requireSubscription(id, context)
    if (known.providerReference !== null || known.status === 'canceled') return known
    throw completed()
  }
  const decided = await decide(id, cancelUnbegun, context)
  // What the provider has just said of the checkout may have ended it.
  const isEnded = decided.kind === 'refused' && decided.reason === 'subscription_ended'
  if (decided.kind === 'refused' && !(isEnded && checkout !== null)) throw refusal(decided)
  if (checkout !== null) await drop(checkout, context)
  return requireSubscription(id, context)
}

async function closed(id: string, context: MoneyContext): Promise<Payment | 'completed'> {
  try {
    return await closeForPayer(id, context)
  } catch (error) {
    if (isPaid(error)) return 'completed'
    throw error
  }
}

/** Money that comes all the same has a review by then. */
async function drop(payment: Payment, context: MoneyContext): Promise<void> {
  try {
    await dropPayment(payment, context)
  } catch (error) {
    if (!isPaid(error)) throw error
  }
}

function isPaid(error: unknown): boolean {
  return isQuittanceError(error) && error.code === 'payment_not_cancelable'
}

function completed(): QuittanceError {
  const text = 'its checkout is paid, or being paid, and the provider has not named it yet'
  const fix = 'Try again in a minute: quittance subscriptions sync ID'
  return new QuittanceError('renewal_under_way', text, { fix })
}
