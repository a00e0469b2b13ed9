import type { Payment } from '../payments/payment.ts'
import { gatewayOf } from './ask-provider.ts'
import { chargePeriod } from './charge-period.ts'
import type { MoneyContext } from './context.ts'
import { openCheckout } from './open-checkout.ts'

/**
 * Hands the payment of a period that its caller has just written to the provider, once: the saved
 * card is charged while the customer is there, or the page is opened. Errors, for a page:
 * `checkout_refused`, `checkout_unknown`.
 */
export async function handOverPeriod(payment: Payment, context: MoneyContext): Promise<Payment> {
  if (payment.paymentMethodId !== null) {
    return (await chargePeriod(payment, 'customer', context)).payment
  }
  const { checkout } = gatewayOf(payment, context).gateway
  return checkout?.kind === 'api' ? openCheckout(payment, checkout, context) : payment
}
