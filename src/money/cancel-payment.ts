import { recordCheckout } from '../database/checkouts.ts'
import { minutes } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Payment } from '../payments/payment.ts'
import { lackingCredential } from '../processing/plan-checkout.ts'
import { closeCheckout } from './close-checkout.ts'
import { checkoutFailure } from './open-checkout.ts'
import { gatewayOf, type Operating } from './operating.ts'
import { pollPayment, requireCharge } from './poll-payment.ts'
import { cancel } from './write-off.ts'

/**
 * Voids the checkout of a payment at its provider, where that can be done, or else only stops
 * offering it, and makes a pending payment `canceled`. A payment that is canceled already stays as
 * it is. Errors: `payment_not_found`, `payment_not_cancelable` (it is paid, or being paid),
 * `checkout_unknown` (the provider is being asked for it), those of the provider.
 */
export async function cancelPayment(id: string, operating: Operating): Promise<Payment> {
  let payment = await requireCharge(id, operating)
  requireUnpaid(payment)
  if (payment.status === 'canceled') return payment
  if (payment.checkout === 'unknown') payment = await resolveUnknown(payment, operating)
  // It had ended, was paid a moment ago, or is being paid: the provider is asked which.
  if (isClosable(payment) && (await closeCheckout(payment, operating)) === 'not_closed') {
    payment = await ask(id, operating)
  }
  if (payment.status === 'pending') await cancel(payment, operating, 'operator')
  else if (payment.checkout === 'open') {
    // Declined: its payer could have tried again.
    const { db } = operating.processing.database
    await recordCheckout(db, id, { state: 'closed', error: payment.operationError })
  }
  const after = await requireCharge(id, operating)
  requireUnpaid(after)
  return after
}

function isClosable({ checkout, checkoutReference }: Payment): boolean {
  return checkout === 'open' || checkout === 'unknown' || checkoutReference !== null
}

/** A provider has answered by then, or will not. */
const answeredAfter = minutes(1)

/** Nothing is canceled that is just coming to be: there would be a checkout that nobody closes. */
async function resolveUnknown(payment: Payment, operating: Operating): Promise<Payment> {
  const age = operating.now().getTime() - (payment.handedAt ?? payment.createdAt).getTime()
  if (payment.operationError === null && age < answeredAfter) throw checkoutFailure(payment)
  const found = gatewayOf(payment, operating)
  const askable = found.gateway.poll !== undefined && lackingCredential(found) === undefined
  return askable ? ask(payment.id, operating) : payment
}

async function ask(id: string, operating: Operating): Promise<Payment> {
  const { payment, standing } = await pollPayment(id, operating)
  requireUnpaid(payment)
  if (standing === 'settling') {
    throw new QuittanceError('payment_not_cancelable', `payment ${id} is being paid`)
  }
  return payment
}

function requireUnpaid({ id, status }: Payment): void {
  if (status !== 'paid') return
  throw new QuittanceError('payment_not_cancelable', `payment ${id} is paid`)
}
