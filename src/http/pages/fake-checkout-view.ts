import { html } from 'hono/html'
import type { TestCard } from '../../gateways/fake/test-card.ts'
import type { Payment } from '../../payments/payment.ts'
import type { StandingState } from '../../payments/standing.ts'
import type { Language } from './language.ts'
import { page, type Html } from './layout.ts'
import type { Look } from './look.ts'
import type { ShownPayment } from './page-context.ts'
import { deadEnd, help, paymentDetails, summary, wayBack } from './payment-view.ts'

const statusWords = {
  pending: 'statusPending',
  paid: 'statusPaid',
  failed: 'statusFailed',
  canceled: 'statusCanceled',
  partly_refunded: 'partlyRefundedHeading',
  refunded: 'refundedHeading',
  disputed: 'disputedHeading',
} as const satisfies Readonly<Record<StandingState, string>>

/**
 * The checkout of a payment: what it is for, its status, and what can be done. `refusal` is the
 * status with which the webhook route has refused a button's callback.
 */
export function checkoutPage(
  { payment, standing: { state } }: ShownPayment,
  refusal: string | undefined,
  look: Look,
): Promise<Response> {
  const { status } = payment
  const { say } = look.language
  const word = say(statusWords[state])
  const notice =
    refusal !== undefined &&
    html`<p>${say('testRefused', { status: refusal })}</p>
      ${help(look)}`
  const body = html`<h1>${say('testHeading')}</h1>
    ${summary(payment, look)}
    <dl>
      <dt>${say('status')}</dt>
      <dd class="status ${state}">${word}</dd>
    </dl>
    <div role="status">${notice}</div>
    ${buttons(payment, look.language)}
    <div class="actions">${wayBack(payment, look, status === 'paid')}</div>
    ${paymentDetails(payment, look)}
    <footer>${say('testFooter')}</footer>`
  return page(look, {
    title: say('testTitle', { status: word }),
    mark: 'small',
    body,
    policy: { 'form-action': ["'self'"] },
  })
}

export function noCheckoutPage(look: Look): Promise<Response> {
  const { say } = look.language
  return deadEnd(look, { status: 404, title: say('unknownHeading'), text: say('testUnknownText') })
}

/** A paid payment never changes again; a declined one can still be paid. */
function buttons({ status, saveCard }: Payment, { say }: Language): Html | false {
  if (status === 'paid') return false
  const decline = html`<button name="result" value="failure">${say('decline')}</button>`
  return html`<form method="post">
    ${saveCard && cards(say)}
    <button class="go" name="result" value="success">${say('pay')}</button>
    ${status === 'pending' && decline}
  </form>`
}

/** Those with which there is something to see; each ends every later charge in its way. */
const offeredCards = {
  good: 'testCardGood',
  soft: 'testCardSoft',
  hard: 'testCardHard',
  confirm: 'testCardConfirm',
} as const satisfies Partial<Record<TestCard, string>>

function cards(say: Language['say']): Html {
  const options = Object.entries(offeredCards).map(
    ([card, text]) => html`<option value="${card}">${say(text)}</option>`,
  )
  return html`<label class="field">
    <span>${say('testCard')}</span>
    <select name="card">
      ${options}
    </select>
  </label>`
}
