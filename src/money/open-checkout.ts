import { recordCheckout } from '../database/checkouts.ts'
import { sqlStateOf } from '../database/failure.ts'
import type { OpenedCheckout } from '../gateways/operations.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Payment } from '../payments/payment.ts'
import { insist } from '../processing/insist.ts'
import { checkoutRequest } from '../processing/plan-checkout.ts'
import { askProvider, failureText, gatewayOf, isRefusal, type Operating } from './operating.ts'

/**
 * Asks the provider for a checkout of a payment whose row is committed as `unknown`, once. Errors:
 * `checkout_refused`, and `checkout_unknown` where nobody knows whether there is one by now: the
 * row keeps what was said, and a poll finds out.
 */
export async function openCheckout(payment: Payment, operating: Operating): Promise<Payment> {
  const found = gatewayOf(payment, operating)
  const { checkout } = found.gateway
  if (checkout?.kind !== 'api') return payment
  let opened: OpenedCheckout
  try {
    opened = await askProvider(found, operating, (context) =>
      checkout.open(checkoutRequest(payment, operating.addresses), context),
    )
  } catch (error) {
    throw await recordCheckoutFailure(payment, operating, error)
  }
  const open = await recordOpened(payment, operating, { state: 'open', found: opened })
  await operating.onReferences(open)
  return open
}

/** Writes what the provider told; an id that another payment has already is none of this one's. */
export async function recordOpened(
  payment: Payment,
  operating: Operating,
  answer: { readonly state: 'open' | 'unknown'; readonly found: Partial<OpenedCheckout> },
): Promise<Payment> {
  const { db } = operating.processing.database
  try {
    const record = () => recordCheckout(db, payment.id, { ...answer, error: null })
    return await insist(record, operating.processing.random)
  } catch (error) {
    // unique_violation
    if (sqlStateOf(error) !== '23505') throw error
    const text = `${payment.gateway} answered with an id that belongs to another payment`
    throw await recordCheckoutFailure(payment, operating, new Error(text))
  }
}

/** Writes why there is no checkout, or none known; the error for whoever asked for it. */
export async function recordCheckoutFailure(
  payment: Payment,
  operating: Operating,
  error: unknown,
): Promise<QuittanceError> {
  const { db } = operating.processing.database
  const state = isRefusal(error) ? 'refused' : 'unknown'
  const text = failureText(error, operating)
  operating.processing.log.warn({ err: error, payment: payment.id }, `checkout ${state}`)
  const row = await recordCheckout(db, payment.id, { state, error: text })
  return checkoutFailure(row, isRefusal(error) ? error.providerCode : undefined)
}

/** The same failure for whoever asks again: the provider is not asked a second time. */
export function checkoutFailure(payment: Payment, providerCode?: string): QuittanceError {
  const { id, checkout, checkoutError } = payment
  const said = checkoutError ?? 'the provider has not answered yet'
  return checkout === 'refused'
    ? new QuittanceError('checkout_refused', `payment ${id}: ${said}`, { providerCode })
    : new QuittanceError('checkout_unknown', `payment ${id}: ${said}`)
}
