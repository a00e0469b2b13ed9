import { join } from 'node:path'
import { createBilling } from 'quittance'
import { price, product } from './product.ts'

const { BILLING_DATA_DIR, DATABASE_URL, PORT = '3000' } = process.env

/** Of the embedded database, where no PostgreSQL is named. */
export const dataDir = BILLING_DATA_DIR ?? join(import.meta.dirname, '.quittance')

export const billing = createBilling({
  // Of the pages that payers are sent to, and of the callback URLs.
  url: `http://localhost:${PORT}`,
  environment: process.env,
  database: DATABASE_URL ? { url: DATABASE_URL } : { dataDir },
})

// In the transaction in which the payment becomes paid: the order is granted exactly if it is.
billing.on('PaymentSucceeded', 'grantOrder', async ({ payment }, { tx }) => {
  if (payment.payable.type !== 'order') return
  const grant = "update orders set state = 'granted' where id = $1 and state = 'new'"
  await tx.query(grant, [payment.payable.id])
})

// After the commit, and again until it succeeds: a mail that fails holds nothing up.
billing.on(
  'PaymentSucceeded',
  'sendReceipt',
  ({ payment }, { idempotencyKey }) => {
    if (payment.payable.type !== 'order') return
    // Your mail service would get the key as well: with it, a second attempt sends nothing.
    const amount = price(Number(payment.amount))
    console.log(`receipt of order ${payment.payable.id}: ${amount} (${idempotencyKey})`)
  },
  { queued: true },
)

// Part of the money back: the reader keeps the book. All of it: the order is taken back.
billing.on('PaymentRefunded', 'countRefund', async ({ payment: refund }, { tx }) => {
  if (refund.payable.type !== 'order') return
  await tx.query(
    `update orders set refunded = refunded + $1,
       state = case when refunded + $1 >= amount then 'taken back' else state end
     where id = $2`,
    [refund.amount, refund.payable.id],
  )
})

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
