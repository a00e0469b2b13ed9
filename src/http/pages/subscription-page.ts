import { type Context, Hono } from 'hono'
import { html } from 'hono/html'
import { gatewayTitleOf } from '../../billing/known-gateway.ts'
import { message } from '../../intake/responses.ts'
import { type ErrorCode, assertNever, isQuittanceError } from '../../kernel/errors.ts'
import { withUuid } from '../../kernel/uuid.ts'
import type { SubscriptionBill } from '../../money/subscription-bill.ts'
import type { Payment } from '../../payments/payment.ts'
import type { Subscription } from '../../subscriptions/subscription.ts'
import { humanDate } from '../human-time.ts'
import { readBody } from '../read-body.ts'
import { onlyAllow, respond } from '../respond.ts'
import { isSameOrigin } from '../same-origin.ts'
import { shareLooks } from '../share-looks.ts'
import { excessOver } from '../throttle.ts'
import { page, seeOther } from './layout.ts'
import { type Look, lookOf } from './look.ts'
import { type PageContext, payPath } from './page-context.ts'
import { help, payButton } from './payment-view.ts'
import {
  billPage,
  details,
  leadsNowhere,
  notOpenedPage,
  nothingPage,
  sum,
  unknownSubscriptionPage,
  waitingPage,
} from './subscription-view.ts'

/** Where the pay page of a subscription is. */
export const subscriptionPages = '/billing/subscriptions'

const crossSite = message(403, 'this form must be sent from its own page')
const largestFormBytes = 1024

/**
 * `/billing/subscriptions/{id}/pay`: what is owed of a subscription, and the way to pay it. To open
 * it makes nothing: scanners of mail open every link. Only its button opens a checkout, and while
 * there is one, leads to that.
 */
export function subscriptionPage(context: PageContext): Hono {
  const { core } = context
  const app = new Hono()
  const find = shareLooks((id) => core.subscriptions.bill(id))
  const billOf = async (c: Context) => withUuid(c.req.param('id'), find)
  // Each makes one payment at most that can be paid; what is left over are closed ones.
  const excessOf = excessOver('10 per minute')
  app.get('/:id/pay', async (c) => {
    const bill = await billOf(c)
    const look = lookOf(core, c, bill?.subscription)
    return bill === undefined ? unknownSubscriptionPage(look) : shown(bill, context, look)
  })
  app.post('/:id/pay', async (c) => {
    if (!isSameOrigin(c, core.origin)) return respond(crossSite)
    await readBody(c, largestFormBytes)
    const bill = await billOf(c)
    const look = lookOf(core, c, bill?.subscription)
    if (bill === undefined) return unknownSubscriptionPage(look)
    return (await excessOf(bill.subscription.id)) ?? pay(bill, context, look)
  })
  app.all('/:id/pay', onlyAllow('GET, HEAD, POST'))
  return app
}

function shown(bill: SubscriptionBill, { core }: PageContext, look: Look) {
  const { gateway, managedBy } = bill.subscription
  const gatewayTitle = gatewayTitleOf(core, gateway)
  if (managedBy === 'provider') return managedPage(bill, { gatewayTitle, look })
  return billPage(bill, { gatewayTitle, isHttps: core.origin.startsWith('https:') }, look)
}

/** The page says it itself by the time that it is shown again. */
const outOfDate: ReadonlySet<ErrorCode> = new Set([
  'renewal_under_way',
  'subscription_ended',
  'subscription_invalid',
])

async function pay(
  { subscription, live }: SubscriptionBill,
  { core }: PageContext,
  look: Look,
): Promise<Response> {
  const { query } = look.language
  // Its page has no button: what there is to pay is a link.
  if (subscription.managedBy === 'provider') return seeOther(payPathOf(subscription.id) + query)
  try {
    const payment = await core.subscriptions.pay(subscription.id)
    const target = leadsNowhere(payment) ? payPathOf(subscription.id) : payPath(payment)
    return seeOther(target + query)
  } catch (error) {
    if (!isQuittanceError(error)) throw error
    // A page that has ended is not closed yet: what is shown would be the same button again.
    const isEnded = error.code === 'renewal_under_way' && live?.paymentMethodId === null
    if (isEnded) return notOpenedPage(subscription, 'not_answered', look)
    if (outOfDate.has(error.code)) return seeOther(payPathOf(subscription.id) + query)
    if (error.code === 'checkout_unknown') return notOpenedPage(subscription, 'not_answered', look)
    if (error.code === 'checkout_refused') return notOpenedPage(subscription, 'refused', look)
    throw error
  }
}

function payPathOf(id: string): string {
  return `${subscriptionPages}/${id}/pay`
}

interface Surroundings {
  readonly gatewayTitle: string
  readonly look: Look
}

/**
 * How a subscription stands that its provider charges by itself. The only payment that can be made
 * here is the one that it begins with, and there is never a second: the page leads to its checkout.
 */
function managedPage(
  { subscription, live }: SubscriptionBill,
  { gatewayTitle: gateway, look }: Surroundings,
): Promise<Response> {
  const { say } = look.language
  switch (subscription.status) {
    case 'canceled':
      return nothingPage(subscription, { heading: 'endedHeading', text: 'endedText' }, look)
    case 'incomplete':
      return live === null
        ? beginning(subscription, 'managedBeginningText', look)
        : beginPage(subscription, live, { gatewayTitle: gateway, look })
    case 'paused':
      return nothingPage(subscription, { heading: 'pausedHeading', text: 'pausedText' }, look)
    case 'past_due': {
      const more = say('managedDueText', { gateway })
      return nothingPage(subscription, { heading: 'dueHeading', text: 'dueText', more }, look)
    }
    case 'trialing':
    case 'active': {
      const texts = { heading: 'nothingOwedHeading', text: 'nothingOwedText' } as const
      return nothingPage(
        subscription,
        { ...texts, more: nextOf(subscription, gateway, look) },
        look,
      )
    }
    default:
      return assertNever(subscription.status)
  }
}

function nextOf(
  { cancelAt, timeZone }: Subscription,
  gateway: string,
  { language: { say, tag } }: Look,
): string {
  return cancelAt === null
    ? say('managedChargedText', { gateway })
    : say('managedEndsText', { time: humanDate(cancelAt, tag, timeZone) })
}

/** What a period costs: the checkout itself may take nothing, before a trial. */
function asked(subscription: Subscription) {
  const { amount, currency } = subscription
  const owed = { amount, currency, startsAt: null, endsAt: null, isInAdvance: false }
  return { subscription, owed }
}

function beginning(
  subscription: Subscription,
  text: 'managedBeginningText' | 'notReadyText',
  look: Look,
): Promise<Response> {
  return waitingPage(asked(subscription), { heading: 'notReadyHeading', text }, look)
}

function beginPage(
  subscription: Subscription,
  live: Payment,
  { gatewayTitle: gateway, look }: Surroundings,
): Promise<Response> {
  if (live.checkout === 'unknown') return beginning(subscription, 'notReadyText', look)
  const { say, tag } = look.language
  const { trialEndsAt, timeZone } = subscription
  const text =
    trialEndsAt === null
      ? say('managedBeginText', { gateway })
      : say('managedTrialText', { gateway, time: humanDate(trialEndsAt, tag, timeZone) })
  const title = say('subscriptionHeading')
  const body = html`<h1>${title}</h1>
    ${sum(asked(subscription), look)}
    <p>${text}</p>
    <div class="actions">${payButton(live, look, say('continueTo', { gateway }))}${help(look)}</div>
    ${details(subscription, look)}`
  return page(look, { title, mark: '', body })
}
