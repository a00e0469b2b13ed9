import { createPayment, type CreatedPayment } from '../checkout/create-payment.ts'
import type { PaymentInput } from '../checkout/payment-input.ts'
import { assertNever } from '../kernel/errors.ts'
import type { Payment } from '../payments/payment.ts'
import { retryPassing } from '../queue/retry-passing.ts'
import { gatewayOf } from './ask-provider.ts'
import { chargeCard, type InitiatedBy } from './charge-cards.ts'
import type { MoneyContext } from './context.ts'
import { checkoutFailure, openCheckout } from './open-checkout.ts'
import { requeueEarlyCalls } from './requeue-early-calls.ts'

/**
 * Creates a payment, requeues the callbacks that came before it, and hands it to its provider.
 * Errors: those of `createPayment`; `checkout_refused`, `checkout_unknown`.
 */
export async function startPayment(input: PaymentInput, context: MoneyContext): Promise<Payment> {
  const { database, gateways, newId, random } = context.processing
  const creation = { ...context, gateways, token: newId() }
  const created = await retryPassing(() => createPayment(database.db, creation, input), random)
  await requeueEarlyCalls(created.payment, context)
  return handOver(created, input, context)
}

/** Only a new payment is handed to the provider: a repeated call never begins a second checkout. */
async function handOver(
  { payment, isNew, plan }: CreatedPayment,
  input: PaymentInput,
  context: MoneyContext,
): Promise<Payment> {
  if (!isNew) {
    if (isHandedOver(payment)) return payment
    throw checkoutFailure(payment)
  }
  const { checkout } = gatewayOf(payment, context).gateway
  if (plan === 'api' && checkout?.kind === 'api') return openCheckout(payment, checkout, context)
  if (plan === 'charge') return chargeSavedCard(payment, input.initiatedBy ?? 'customer', context)
  return payment
}

/** Otherwise a repeated call fails as the first one did. */
function isHandedOver({ checkout, status, paymentMethodId }: Payment): boolean {
  if (checkout !== 'unknown' && checkout !== 'refused') return true
  // A refused charge of a saved card is canceled at once.
  const isRefusedCharge = status === 'canceled' && paymentMethodId !== null
  return status !== 'pending' && !isRefusedCharge
}

/**
 * Charges the saved card of a payment whose row is committed as `unknown`, for whoever asked for
 * that. A declined card fails the payment. Errors: `checkout_refused`, and `checkout_unknown`,
 * after which a poll finds out what happened.
 */
async function chargeSavedCard(
  payment: Payment,
  initiatedBy: InitiatedBy,
  context: MoneyContext,
): Promise<Payment> {
  const result = await chargeCard(payment, initiatedBy, context)
  switch (result.kind) {
    case 'paid':
    case 'declined':
    case 'pending':
    case 'canceled':
      return result.payment
    case 'refused_by_us':
    case 'card_unusable':
    case 'unknown':
      throw result.error
    default:
      return assertNever(result)
  }
}
