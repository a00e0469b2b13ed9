import type { Kysely } from 'kysely'
import { isOfAnother, recordCheckout } from '../database/checkouts.ts'
import { findCustomer } from '../database/payment-methods.ts'
import { findPeriod } from '../database/subscription-periods.ts'
import { findSubscription } from '../database/subscriptions.ts'
import type { Tables } from '../database/tables.ts'
import type { CheckoutOperation, OpenedCheckout } from '../gateways/operations.ts'
import { wasUnsent } from '../gateways/api/unsent.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Payment } from '../payments/payment.ts'
import { retryPassing } from '../queue/retry-passing.ts'
import {
  checkoutRequest,
  type CheckoutTerms,
  type RecurringTerms,
} from '../checkout/checkout-request.ts'
import { askOnce, failureText, gatewayOf, isRefusal } from './ask-provider.ts'
import type { MoneyContext } from './context.ts'
import { requeueEarlyCalls } from './requeue-early-calls.ts'

/**
 * Asks the provider once for a checkout of a payment whose row is committed as `unknown`. Errors:
 * `checkout_refused`, and `checkout_unknown` if it is unknown whether there is a checkout by now:
 * the row keeps the error, and a poll finds out.
 */
export async function openCheckout(
  payment: Payment,
  checkout: CheckoutOperation & { readonly kind: 'api' },
  context: MoneyContext,
): Promise<Payment> {
  let opened: OpenedCheckout
  try {
    const terms = await readTerms(payment, context)
    const of = gatewayOf(payment, context)
    opened = await askOnce(
      { of, operation: 'checkout', payment, describe: () => null },
      { ...context, row: payment },
      (operation) => checkout.open(checkoutRequest(payment, context.addresses, terms), operation),
    )
  } catch (error) {
    // The payer is here, and may pay in another way at once.
    const refusal = wasUnsent(error)
      ? new QuittanceError('provider_refused', failureText(error, context))
      : error
    throw await recordFailure(payment, context, refusal)
  }
  const bound = await bindCheckout(payment, { state: 'open', found: opened }, context)
  if (bound !== undefined) return bound
  throw await recordFailure(payment, context, new Error(ofAnother(payment)))
}

/** An answer whose ids belong to another payment. */
export function ofAnother({ gateway }: Pick<Payment, 'gateway'>): string {
  return `${gateway} answered with an id that belongs to another payment`
}

async function readTerms(payment: Payment, { processing }: MoneyContext): Promise<CheckoutTerms> {
  const { db } = processing.database
  const recurring = await readRecurring(db, payment)
  const saves = payment.saveCard || recurring !== undefined
  return { recurring, customerReference: saves ? await findCustomer(db, payment) : undefined }
}

/** Gives the payment the provider's ids and URL; undefined if they belong to another payment. */
export async function bindCheckout(
  payment: Payment,
  answer: { readonly state: 'open' | 'unknown'; readonly found: Partial<OpenedCheckout> },
  context: MoneyContext,
): Promise<Payment | undefined> {
  const { database, random } = context.processing
  const record = () => recordCheckout(database.db, payment.id, { ...answer, error: null })
  try {
    const bound = await retryPassing(record, random)
    await requeueEarlyCalls(bound, context, payment)
    return bound
  } catch (error) {
    if (isOfAnother(error)) return undefined
    throw error
  }
}

/** Writes why there is no checkout, or no known one; returns the error for the caller. */
async function recordFailure(
  payment: Payment,
  context: MoneyContext,
  error: unknown,
): Promise<QuittanceError> {
  const { database, log, random } = context.processing
  const state = isRefusal(error) ? 'refused' : 'unknown'
  const text = failureText(error, context)
  log.warn({ err: error, payment: payment.id }, `checkout ${state}`)
  const record = () => recordCheckout(database.db, payment.id, { state, error: text })
  const row = await retryPassing(record, random)
  return checkoutFailure(row, isRefusal(error) ? error.providerCode : undefined)
}

/** Error: `checkout_unknown` for a page of which it is not known whether there is one. */
export function requireAddress(payment: Payment): Payment {
  const { checkout, paymentMethodId } = payment
  if (checkout === 'unknown' && paymentMethodId === null) throw checkoutFailure(payment)
  return payment
}

/** The same failure for a repeated call: the provider is not asked a second time. */
export function checkoutFailure(payment: Payment, providerCode?: string): QuittanceError {
  const { id, checkout, operationError } = payment
  const said = operationError ?? 'the provider has not answered yet'
  return checkout === 'refused'
    ? new QuittanceError('checkout_refused', `payment ${id}: ${said}`, { providerCode })
    : new QuittanceError('checkout_unknown', `payment ${id}: ${said}`)
}

/**
 * What the checkout of this payment begins at the provider; undefined: nothing, for it is of no
 * subscription that the provider is to manage.
 */
async function readRecurring(
  db: Kysely<Tables>,
  { periodId }: Pick<Payment, 'periodId'>,
): Promise<RecurringTerms | undefined> {
  const period = periodId === null ? undefined : await findPeriod(db, periodId)
  const subscription = period && (await findSubscription(db, period.subscriptionId))
  if (subscription?.managedBy !== 'provider') return undefined
  const { every, trialEndsAt, timeZone, amount: price } = subscription
  return { every, trialEndsAt, timeZone, price }
}
