import { html } from 'hono/html'
import { supportLink } from '../../billing/brand.ts'
import type { Payment, PaymentStatus } from '../../payments/payment.ts'
import type { StandingState } from '../../payments/standing.ts'
import { humanMoney } from '../human-money.ts'
import { humanTime } from '../human-time.ts'
import { visibleText } from '../visible-text.ts'
import { page, type Html } from './layout.ts'
import type { Look } from './look.ts'
import { payPath, type ShownPayment } from './page-context.ts'

interface Parts {
  readonly head: Html
  /** What can be done. */
  readonly next: Html
}

/** The body of a page about one payment. */
export function paymentBody(payment: Payment, look: Look, { head, next }: Parts): Html {
  return html`${head} ${summary(payment, look)} ${next} ${paymentDetails(payment, look)}`
}

/** The amount, and what it is for in the merchant's words. */
function summary(payment: Payment, { language }: Look): Html {
  const { description } = payment
  return html`<p class="amount">${humanMoney(payment, language.tag)}</p>
    ${description !== null && html`<p class="about">${visibleText(description)}</p>`}`
}

/**
 * What a payer tells the shop if something is unclear; shown only when asked for. What the merchant
 * calls the payable is no word for payers.
 */
function paymentDetails({ id, createdAt }: Payment, { language }: Look): Html {
  const { say, tag } = language
  return html`<details>
    <summary>${say('details')}</summary>
    <dl>
      <dt>${say('number')}</dt>
      <dd>${id}</dd>
      <dt>${say('created')}</dt>
      <dd><time datetime="${createdAt.toISOString()}">${humanTime(createdAt, tag)}</time></dd>
    </dl>
  </details>`
}

export const takenBackKeys = {
  partly_refunded: { heading: 'partlyRefundedHeading', text: 'partlyRefundedText' },
  refunded: { heading: 'refundedHeading', text: 'refundedText' },
  disputed: { heading: 'disputedHeading', text: 'disputedText' },
} as const satisfies Readonly<Record<Exclude<StandingState, PaymentStatus>, object>>

/** What to say of a paid payment that went back, or may; undefined: of it nothing did. */
export function takenBackWords(
  { payment: { currency }, standing: { state, refunded } }: ShownPayment,
  { language: { say, tag } }: Look,
) {
  if (!isTakenBack(state)) return undefined
  const { heading, text } = takenBackKeys[state]
  const money = humanMoney({ amount: refunded, currency }, tag)
  return { heading: say(heading), text: say(text, { money }) }
}

export function isTakenBack(state: StandingState): state is keyof typeof takenBackKeys {
  return state in takenBackKeys
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

/** The way to the payment link. */
export function payButton(payment: Payment, look: Look, text: string): Html {
  return linkButton(payPath(payment) + look.language.query, text)
}

/** The way on to the merchant's site; its name is shown, so that the payer recognises it. */
export function wayBack({ returnUrl }: Payment, look: Look, isMain: boolean): Html | false {
  if (returnUrl === null || !look.allows(returnUrl)) return false
  const { host } = new URL(returnUrl)
  return linkButton(returnUrl, look.language.say('returnTo', { host }), isMain)
}

/** Where to turn when something went wrong. */
export function help({ brand, language }: Look): Html | false {
  const link = brand.support === undefined ? undefined : supportLink(brand.support)
  if (link === undefined) return false
  return html`<p class="help">${language.say('help')} <a href="${link.href}">${link.text}</a></p>`
}

export function unknownPaymentPage(look: Look): Promise<Response> {
  const { say } = look.language
  return deadEnd(look, { status: 404, title: say('unknownHeading'), text: say('unknownText') })
}

/**
 * For a failure on our side. Opening a page changes nothing. The payer can quote the id to the merchant.
 */
export function troublePage(look: Look, requestId: string): Promise<Response> {
  const { say } = look.language
  const headers = { 'retry-after': '60' }
  const title = say('troubleHeading')
  const more = html`<p><small>${requestId}</small></p>`
  return deadEnd(look, { status: 503, title, text: say('troubleText'), more, headers })
}

interface DeadEnd {
  readonly status: number
  readonly title: string
  readonly text: string
  readonly headers?: Readonly<Record<string, string>>
  readonly more?: Html
}

/** A page of which no payment is known: it can only say so. */
export function deadEnd(look: Look, { title, text, more, ...answer }: DeadEnd): Promise<Response> {
  const body = html`<h1>${title}</h1>
    <p>${text}</p>
    ${more}
    <div class="actions">${help(look)}</div>`
  return page(look, { ...answer, title, body })
}
