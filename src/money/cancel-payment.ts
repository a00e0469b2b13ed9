import { recordCheckout } from '../database/checkouts.ts'
import { databaseNow } from '../database/now.ts'
import { minutes } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Payment } from '../payments/payment.ts'
import { lackingCredential } from '../gateways/require.ts'
import { closeCheckout } from './close-checkout.ts'
import { checkoutFailure } from './open-checkout.ts'
import { gatewayOf } from './ask-provider.ts'
import type { MoneyContext } from './context.ts'
import { isWrittenOff } from './is-written-off.ts'
import { pollPayment } from './poll-payment.ts'
import { requireCharge } from './require-charge.ts'
import { cancel } from './write-off.ts'

/**
 * Voids the checkout of a payment at its provider if that is possible, or else only stops offering
 * it, and makes a pending payment `canceled`. A payment that is already canceled stays as it is.
 * Errors: `payment_not_found`, `payment_not_cancelable` (it is paid, being paid, or what the
 * provider says of it needs a review), `checkout_unknown` (the provider is being asked for it),
 * those of the provider.
 */
export async function cancelPayment(id: string, context: MoneyContext): Promise<Payment> {
  return dropPayment(await closeForPayer(id, context), context)
}

/**
 * The payment once nobody can pay it any more, as far as its provider can tell; it is not canceled
 * yet, unless its provider has said so. The same errors.
 */
export async function closeForPayer(id: string, context: MoneyContext): Promise<Payment> {
  const payment = await requireCharge(id, context)
  requireUnpaid(payment)
  if (payment.status === 'canceled') return payment
  const known = payment.checkout === 'unknown' ? await resolveUnknown(payment, context) : payment
  // It had ended, was paid a moment ago, or is being paid: only the provider knows.
  return (await isClosed(known, context)) ? known : ask(known, context)
}

/** Cancels a payment that nobody can pay any more. Error: `payment_not_cancelable`. */
export async function dropPayment(payment: Payment, context: MoneyContext): Promise<Payment> {
  const { id } = payment
  if (payment.status === 'pending') await cancel(payment, context, 'operator')
  else if (payment.checkout === 'open') {
    // Declined: its payer could have tried again.
    const { db } = context.processing.database
    await recordCheckout(db, id, { state: 'closed', error: payment.operationError })
  }
  const after = await requireCharge(id, context)
  requireUnpaid(after)
  return after
}

/** Whether the provider has closed it, so that it is certainly not paid. */
async function isClosed(payment: Payment, context: MoneyContext): Promise<boolean> {
  const { checkout, checkoutReference } = payment
  const isClosable = /^(?:open|unknown)$/.test(checkout) || checkoutReference !== null
  return isClosable && (await closeCheckout(payment, context)) === 'closed'
}

/** By then a provider has answered, or will not. */
const answeredAfter = minutes(1)

/** A payment whose checkout is being opened is not canceled: that checkout would stay open. */
async function resolveUnknown(payment: Payment, context: MoneyContext): Promise<Payment> {
  const now = await databaseNow(context.processing.database.db)
  const age = now.getTime() - (payment.handedAt ?? payment.createdAt).getTime()
  if (payment.operationError === null && age < answeredAfter) throw checkoutFailure(payment)
  return ask(payment, context)
}

/** The provider's view of the payment, if it can be polled; otherwise the operator knows better. */
async function ask(payment: Payment, context: MoneyContext): Promise<Payment> {
  const found = gatewayOf(payment, context)
  const isAskable = found.gateway.poll !== undefined && lackingCredential(found) === undefined
  if (!isAskable) return payment
  const { payment: asked, standing } = await pollPayment(payment.id, context)
  requireUnpaid(asked)
  if (standing === 'undecided') throw notCancelable(asked, 'is being paid')
  if (standing === 'absent' && (await mayTurnUp(asked, context))) {
    throw notCancelable(asked, 'may still turn up at its provider: try again within the hour')
  }
  if (asked.pollError !== null) throw notCancelable(asked, asked.pollError)
  return asked
}

/** A period is charged anew as soon as a charge of it is canceled: one of them must not be late. */
async function mayTurnUp(payment: Payment, context: MoneyContext): Promise<boolean> {
  const { status, periodId, paymentMethodId } = payment
  if (status !== 'pending' || periodId === null || paymentMethodId === null) return false
  return !isWrittenOff(payment, 'absent', await databaseNow(context.processing.database.db))
}

function requireUnpaid(payment: Payment): void {
  if (payment.status === 'paid') throw notCancelable(payment, 'is paid')
}

function notCancelable({ id }: Payment, why: string): QuittanceError {
  return new QuittanceError('payment_not_cancelable', `payment ${id} ${why}`)
}
