import { html } from 'hono/html'
import type { Payment } from '../../payments/payment.ts'
import { humanMoney } from '../human-money.ts'
import { visibleText } from '../visible-text.ts'
import { page, type Html } from './layout.ts'

/** The amount, and what it is for; more facts go below. */
export function summary(payment: Payment, more?: Html): Html {
  const { payable, description, id } = payment
  return html`<p class="amount">${humanMoney(payment)}</p>
    <dl>
      <dt>For</dt>
      <dd>${visibleText(payable.type)} ${visibleText(payable.id)}</dd>
      ${
        description !== null &&
        html`<dt>Details</dt>
          <dd>${visibleText(description)}</dd>`
      }
      <dt>Payment</dt>
      <dd class="id">${id}</dd>
      ${more}
    </dl>`
}

/** What to say first, in a region that notifies screen readers when it changes. */
export function news(heading: string, text: string, more?: Html): Html {
  return html`<div id="news" role="status">
    <h1>${heading}</h1>
    ${more}
    <p>${text}</p>
  </div>`
}

/** A link that looks like a button; the main one of a page stands out. */
export function linkButton(href: string, text: string, isMain = true): Html {
  return html`<a class="button ${isMain ? 'go' : ''}" href="${href}">${text}</a>`
}

/** The way on to the merchant's site; its name is shown, so that the payer recognises it. */
export function wayBack(
  { returnUrl }: Payment,
  { allows, isMain }: { readonly allows: (url: string) => boolean; readonly isMain: boolean },
): Html | false {
  if (returnUrl === null || !allows(returnUrl)) return false
  return linkButton(returnUrl, `Return to ${new URL(returnUrl).host}`, isMain)
}

export function unknownPaymentPage(): Promise<Response> {
  const body = html`<h1>No such payment</h1>
    <p>There is no payment under this address. Please check the link.</p>`
  return page({ status: 404, title: 'No such payment', body })
}

/** For a failure on our side: whatever it was, opening a page has changed nothing. */
export function troublePage(): Promise<Response> {
  const body = html`<h1>Please try again in a minute</h1>
    <p>This payment cannot be looked up right now. Nothing about it has changed.</p>`
  const headers = { 'retry-after': '60' }
  return page({ status: 503, title: 'Please try again in a minute', body, headers })
}
