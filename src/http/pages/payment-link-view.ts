import { html } from 'hono/html'
import type { CheckoutForm } from '../../billing/types.ts'
import type { Payment } from '../../payments/payment.ts'
import { page } from './layout.ts'
import { payPath } from './page-context.ts'
import { linkButton, summary, wayBack } from './payment-view.ts'
import { submitForm } from './scripts.ts'

/** Why a payment link does not lead to a checkout. */
export type NotPayable = 'paid' | 'canceled' | 'expired' | 'not_answered' | 'no_checkout'

const words: Readonly<Record<NotPayable, { mark: string; heading: string; text: string }>> = {
  paid: {
    mark: 'paid',
    heading: 'Already paid',
    text: 'This payment has been made. There is nothing left to do.',
  },
  canceled: {
    mark: 'canceled',
    heading: 'Payment canceled',
    text: 'This payment was canceled, and this link can no longer be used to pay.',
  },
  expired: {
    mark: 'canceled',
    heading: 'Link expired',
    text: 'The time to pay is over. Please ask the shop for a new link.',
  },
  not_answered: {
    mark: 'pending',
    heading: 'Not ready yet',
    text: 'The payment provider has not answered yet. Please try again in a minute.',
  },
  no_checkout: {
    mark: 'canceled',
    heading: 'Not payable here',
    text: 'This link cannot be used to pay. Please ask the shop for a new one.',
  },
}

export function notPayablePage(
  payment: Payment,
  why: NotPayable,
  allows: (url: string) => boolean,
): Promise<Response> {
  const { mark, heading, text } = words[why]
  const retry = why === 'not_answered' && linkButton(payPath(payment), 'Try again')
  const body = html`<h1>${heading}</h1>
    <p>${text}</p>
    ${summary(payment)}
    <div class="actions">${retry}${wayBack(payment, { allows, isMain: retry === false })}</div>`
  return page({ title: heading, mark, body })
}

/** The form that the payer's browser posts to the provider, automatically or by a button. */
export function formPage(
  payment: Payment,
  { action, fields }: CheckoutForm,
  gatewayTitle: string,
): Promise<Response> {
  const inputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  )
  const body = html`<h1>Your payment</h1>
    <p>You pay on the page of ${gatewayTitle}.</p>
    ${summary(payment)}
    <form method="post" action="${action}">
      ${inputs}
      <button class="go">Continue to ${gatewayTitle}</button>
    </form>`
  return page({
    title: `Continue to ${gatewayTitle}`,
    body,
    scripts: [submitForm.path],
    policy: { 'script-src': ["'self'"], 'form-action': [new URL(action).origin] },
  })
}
