import { html } from 'hono/html'
import type { Owed, SubscriptionBill } from '../../money/subscription-bill.ts'
import type { Payment } from '../../payments/payment.ts'
import type { Interval, IntervalUnit, Subscription } from '../../subscriptions/subscription.ts'
import { isSameInterval } from '../../subscriptions/terms.ts'
import { humanMoney } from '../human-money.ts'
import { humanDate, humanDates, humanLength } from '../human-time.ts'
import { visibleText } from '../visible-text.ts'
import type { PlainTextKey } from './languages/texts.ts'
import { page, type Html } from './layout.ts'
import type { Look } from './look.ts'
import { deadEnd, help, linkButton, payButton } from './payment-view.ts'

interface Surroundings {
  readonly gatewayTitle: string
  readonly isHttps: boolean
}

/** What is owed, and the way to pay it; or that nothing is. */
export function billPage(
  bill: SubscriptionBill,
  surroundings: Surroundings,
  look: Look,
): Promise<Response> {
  const { subscription, owed } = bill
  if (subscription.status === 'canceled') {
    return nothingPage(subscription, { heading: 'endedHeading', text: 'endedText' }, look)
  }
  if (owed === null) return nothingPage(subscription, restOf(subscription), look)
  const waiting = waitingFor(bill)
  if (waiting !== undefined) return waitingPage({ subscription, owed }, waiting, look)
  return payablePage(bill, owed, { ...surroundings, look })
}

/** What a page without a way to pay says. */
export interface Said {
  readonly heading: PlainTextKey
  readonly text: PlainTextKey
}

/** Why there is nothing to press, though money is owed. */
function waitingFor({ isCharging, live }: SubscriptionBill): Said | undefined {
  if (isCharging) return { heading: 'chargingHeading', text: 'chargingText' }
  if (live === null) return undefined
  if (live.checkout === 'unknown') return { heading: 'notReadyHeading', text: 'notReadyText' }
  if (!leadsNowhere(live)) return undefined
  return { heading: 'confirmHeading', text: 'confirmNowhereText' }
}

/** A charge that its payer has to confirm, of a provider that has no page for that. */
export function leadsNowhere({ paymentMethodId, checkoutUrl }: Payment): boolean {
  return paymentMethodId !== null && checkoutUrl === null
}

function restOf({ status }: Subscription): Said {
  if (status === 'paused') return { heading: 'pausedHeading', text: 'pausedText' }
  return { heading: 'nothingOwedHeading', text: 'nothingOwedText' }
}

/** Nothing is to be paid here; `more` says what happens by itself. */
export function nothingPage(
  subscription: Subscription,
  { more, ...texts }: Said & { readonly more?: string },
  look: Look,
): Promise<Response> {
  const { say, tag } = look.language
  const title = say(texts.heading)
  const { paidUntil, status, timeZone } = subscription
  const isPaid = status === 'active' && paidUntil !== null
  const until = isPaid && say('paidUntil', { time: humanDate(paidUntil, tag, timeZone) })
  const body = html`<h1>${title}</h1>
    <p>${say(texts.text)} ${until} ${more}</p>
    ${about(subscription)}
    <div class="actions">${status === 'canceled' && help(look)}</div>
    ${details(subscription, look)}`
  const mark = status === 'canceled' ? 'canceled' : status === 'active' ? 'paid' : ''
  return page(look, { title, mark, body })
}

/** A subscription, and what its page asks for. */
export interface OwedSubscription {
  readonly subscription: Subscription
  readonly owed: Owed
}

/** Something is under way, and nothing is to be pressed. */
export function waitingPage(
  { subscription, owed }: OwedSubscription,
  texts: Said,
  look: Look,
): Promise<Response> {
  const { say, query } = look.language
  const title = say(texts.heading)
  const body = html`<h1>${title}</h1>
    ${sum({ subscription, owed }, look)}
    <p>${say(texts.text)}</p>
    <div class="actions">${linkButton(`pay${query}`, say('lookAgain'), false)}${help(look)}</div>
    ${details(subscription, look)}`
  return page(look, { title, mark: 'pending', body })
}

function payablePage(
  { subscription, live }: SubscriptionBill,
  owed: Owed,
  { look, gatewayTitle: gateway, isHttps }: Surroundings & { readonly look: Look },
): Promise<Response> {
  const { say, tag } = look.language
  const isConfirmation = live !== null && live.paymentMethodId !== null
  const time = owed.startsAt === null ? '' : humanDate(owed.startsAt, tag, subscription.timeZone)
  const { heading, text } = isConfirmation
    ? { heading: say('confirmHeading'), text: say('confirmText', { gateway }) }
    : owed.isInAdvance
      ? { heading: say('inTrialHeading'), text: say('inTrialText', { time, gateway }) }
      : subscription.status === 'paused'
        ? { heading: say('pausedHeading'), text: say('resumeText', { gateway }) }
        : { heading: say(headingOf(subscription)), text: say('owedText', { gateway }) }
  const way = isConfirmation
    ? payButton(live, look, say('continueTo', { gateway }))
    : html`<button class="go">${say('pay')}</button>`
  const form = isConfirmation
    ? html`<div class="actions">${way}</div>`
    : html`<form method="post">${way}</form>`
  const isDeclined = subscription.status === 'past_due' && !isConfirmation
  const said = html`<p>${isDeclined && say('dueText')} ${text}</p>`
  const asked = sum({ subscription, owed }, look)
  // Who owes nothing yet reads that first.
  const parts = owed.isInAdvance ? [said, asked] : [asked, said]
  const body = html`<h1>${heading}</h1>
    ${parts} ${form}
    <div class="actions">${help(look)}</div>
    ${details(subscription, look)}`
  return page(look, {
    title: heading,
    mark: subscription.status === 'past_due' ? 'pending' : '',
    body,
    // The answer redirects to the provider's page, which browsers count as the form's address.
    policy: { 'form-action': ["'self'", 'https:', ...(isHttps ? [] : ['http:'])] },
    // Without an origin nobody could tell that the form was sent from here.
    headers: { 'referrer-policy': 'same-origin' },
  })
}

function headingOf({ status }: Subscription): PlainTextKey {
  return status === 'past_due' ? 'dueHeading' : 'subscriptionHeading'
}

/** What it is for, in the merchant's words. */
export function about({ description }: Subscription): Html | false {
  return description !== null && html`<p class="about">${visibleText(description)}</p>`
}

/** What is asked for, how often, and for which time. */
export function sum({ subscription, owed }: OwedSubscription, { language }: Look): Html {
  const { startsAt, endsAt } = owed
  const dates =
    startsAt !== null &&
    endsAt !== null &&
    html`<p class="about">
      ${humanDates([startsAt, endsAt], language.tag, subscription.timeZone)}
    </p>`
  return html`<p class="amount">${humanMoney(owed, language.tag)}</p>
    <p class="about">${howOften({ subscription, owed }, language)}</p>
    ${about(subscription)} ${dates}`
}

const everyOne = {
  day: 'everyDay',
  week: 'everyWeek',
  month: 'everyMonth',
  year: 'everyYear',
} as const satisfies Record<IntervalUnit, PlainTextKey>

/** Whoever pays agrees to be charged again: the same, or what the next period costs. */
function howOften({ subscription, owed }: OwedSubscription, language: Look['language']): string {
  const next = subscription.nextTerms ?? subscription
  const often = lengthOf(next.every, language)
  const isSame =
    next.amount === owed.amount &&
    next.currency === owed.currency &&
    isSameInterval(next.every, subscription.every)
  const { say, tag } = language
  return isSame ? often : say('thenOften', { money: humanMoney(next, tag), often })
}

function lengthOf({ unit, count }: Interval, { say, tag }: Look['language']): string {
  if (count === 1) return say(everyOne[unit])
  return say('everyLength', { length: humanLength({ unit, count }, tag) })
}

/** What a payer tells the shop if something is unclear; shown only when asked for. */
export function details({ id }: Subscription, { language: { say } }: Look): Html {
  return html`<details>
    <summary>${say('subscriptionDetails')}</summary>
    <dl>
      <dt>${say('subscriptionNumber')}</dt>
      <dd>${id}</dd>
    </dl>
  </details>`
}

/** The button was pressed, and there is no checkout: for now, or at all. */
export function notOpenedPage(
  subscription: Subscription,
  why: 'not_answered' | 'refused',
  look: Look,
): Promise<Response> {
  const { say, query } = look.language
  const isPassing = why === 'not_answered'
  const title = say(isPassing ? 'notReadyHeading' : 'notPayableHeading')
  const retry = isPassing && linkButton(`pay${query}`, say('tryAgain'))
  const body = html`<h1>${title}</h1>
    <p>${say(isPassing ? 'notReadyText' : 'notOpenedText')}</p>
    ${about(subscription)}
    <div class="actions">${retry}${help(look)}</div>
    ${details(subscription, look)}`
  return page(look, { title, mark: isPassing ? 'pending' : 'canceled', body })
}

export function unknownSubscriptionPage(look: Look): Promise<Response> {
  const { say } = look.language
  const title = say('unknownSubscriptionHeading')
  return deadEnd(look, { status: 404, title, text: say('unknownSubscriptionText') })
}
