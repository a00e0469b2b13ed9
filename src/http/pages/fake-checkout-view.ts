import { html } from 'hono/html'
import type { Payment, PaymentStatus } from '../../payments/payment.ts'
import { page, type Html } from './layout.ts'
import { summary, wayBack } from './payment-view.ts'

interface Shown {
  /** What to say above the buttons. */
  readonly notice: string | undefined
  readonly allows: (url: string) => boolean
}

const statusWords: Readonly<Record<PaymentStatus, string>> = {
  pending: 'Pending',
  paid: 'Paid',
  failed: 'Declined',
  canceled: 'Canceled',
}

/** The checkout of a payment: what it is for, its status, and what can be done. */
export function checkoutPage(payment: Payment, { notice, allows }: Shown): Promise<Response> {
  const { status } = payment
  const word = statusWords[status]
  const body = html`<h1>Test checkout</h1>
    ${summary(
      payment,
      html`<dt>Status</dt>
        <dd class="status ${status}">${word}</dd>`,
    )}
    <div role="status">${notice !== undefined && html`<p class="notice">${notice}</p>`}</div>
    ${buttons(status)}
    <div class="actions">${wayBack(payment, { allows, isMain: status === 'paid' })}</div>
    <footer>No money moves here: the buttons send the callback that a gateway would send.</footer>`
  return page({
    title: `${word}: test checkout`,
    mark: 'small',
    body,
    policy: { 'form-action': ["'self'"] },
  })
}

export function noCheckoutPage(): Promise<Response> {
  const body = html`<h1>No such payment</h1>
    <p>There is no test payment under this address. Please check the link.</p>`
  return page({ status: 404, title: 'No such payment', body })
}

/** A paid payment never changes again; a declined one can still be paid. */
function buttons(status: PaymentStatus): Html | false {
  if (status === 'paid') return false
  const decline = html`<button name="result" value="failure">Decline</button>`
  return html`<form method="post">
    <button class="go" name="result" value="success">Pay</button>
    ${status === 'pending' && decline}
  </form>`
}
