import { createBilling } from 'quittance'
import { product } from './product.ts'
import config from './quittance.config.ts'

export const billing = createBilling({ ...config, environment: process.env })

/** Opens the checkout of an order; where the payer goes. */
export async function payFor(id: string): Promise<string> {
  const payment = await billing.payments.create({
    // Asked for twice, an order has one payment and one checkout.
    id,
    gateway: 'fake',
    amount: product.amount,
    currency: product.currency,
    description: product.name,
    payable: { type: 'order', id },
    returnUrl: `${billing.origin}/orders/${id}`,
  })
  return payment.checkoutUrl ?? payLink(id)
}

/** It leads to the checkout, or says why it does not. */
export function payLink(id: string): string {
  return `/billing/pay/${id}`
}
