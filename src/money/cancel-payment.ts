import { QuittanceError } from '../kernel/errors.ts'
import type { Payment } from '../payments/payment.ts'
import { recordCheckout } from '../database/checkouts.ts'
import { lackingCredential } from '../processing/plan-checkout.ts'
import { askProvider, gatewayOf, isRefusal, type Operating } from './operating.ts'
import { pollPayment, pollRequest, requireCharge } from './poll-payment.ts'
import { cancelLocally } from './write-off.ts'

/**
 * Voids the checkout of a payment at its provider, where that can be done, or else only stops
 * offering it, and makes a pending payment `canceled`. A payment that is canceled already stays as
 * it is. Errors: `payment_not_found`, `payment_not_cancelable` (it is paid), those of the provider.
 */
export async function cancelPayment(id: string, operating: Operating): Promise<Payment> {
  const payment = await requireCharge(id, operating)
  requireUnpaid(payment)
  if (payment.status === 'canceled' && payment.checkout !== 'open') return payment
  const isClosed = await closeOpen(payment, operating)
  // Ended, or paid a moment ago: the provider knows.
  if (!isClosed) requireUnpaid((await pollPayment(id, operating)).payment)
  const current = await requireCharge(id, operating)
  if (current.status === 'pending') await cancelLocally(current, operating, 'operator')
  else if (current.checkout === 'open') {
    const { db } = operating.processing.database
    await recordCheckout(db, id, { state: 'closed', error: current.checkoutError })
  }
  const after = await requireCharge(id, operating)
  requireUnpaid(after)
  return after
}

function requireUnpaid({ id, status }: Payment): void {
  if (status !== 'paid') return
  throw new QuittanceError('payment_not_cancelable', `payment ${id} is paid`)
}

/** False where the provider says that there is nothing open to close. */
async function closeOpen(payment: Payment, operating: Operating): Promise<boolean> {
  const found = gatewayOf(payment, operating)
  const { closeCheckout, poll } = found.gateway
  const isOpen = payment.checkout === 'open' || payment.checkoutReference !== null
  if (closeCheckout === undefined || !isOpen || lackingCredential(found) !== undefined) return true
  try {
    const closed = await askProvider(found, operating, (context) =>
      closeCheckout(pollRequest(payment), context),
    )
    return closed === 'closed' || poll === undefined
  } catch (error) {
    // It says no: perhaps since somebody is paying. Whether it can be closed by us is its choice.
    if (isRefusal(error)) return poll === undefined
    throw error
  }
}
