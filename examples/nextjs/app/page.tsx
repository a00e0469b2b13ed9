// app/page.tsx
import { redirect } from 'next/navigation'
import { getBilling } from '../lib/billing'

/** Runs on the server: the price and the gateway never come from the browser. */
async function buy(): Promise<void> {
  'use server'
  const payment = await getBilling().payments.create({
    gateway: 'fake', // needs no account; off in production unless BILLING_FAKE=on
    amount: 1999, // minor units: 19.99
    currency: 'USD',
    payable: { type: 'order', id: '42' },
  })
  redirect(payment.checkoutUrl ?? `/billing/pay/${payment.id}`)
}

export default function Page() {
  return (
    <form action={buy}>
      <button>Buy for $19.99</button>
    </form>
  )
}
