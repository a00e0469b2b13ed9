import { html } from 'hono/html'
import type { SubscriptionBill } from '../../money/subscription-bill.ts'
import type { Payment } from '../../payments/payment.ts'
import type { Subscription } from '../../subscriptions/subscription.ts'
import { assertNever } from '../../kernel/errors.ts'
import { humanDate } from '../human-time.ts'
import { page } from './layout.ts'
import type { Look } from './look.ts'
import { payPath } from './page-context.ts'
import { help, linkButton } from './payment-view.ts'
import { details, nothingPage, sum, waitingPage } from './subscription-view.ts'

interface Surroundings {
  readonly gatewayTitle: string
  readonly look: Look
}

/**
 * How a subscription stands that its provider charges by itself. The only payment that can be made
 * here is the one that it begins with, and there is never a second: the page leads to its checkout.
 */
export function managedPage(
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
  const { say, tag, query } = look.language
  const { trialEndsAt, timeZone } = subscription
  const text =
    trialEndsAt === null
      ? say('managedBeginText', { gateway })
      : say('managedTrialText', { gateway, time: humanDate(trialEndsAt, tag, timeZone) })
  const title = say('subscriptionHeading')
  const body = html`<h1>${title}</h1>
    ${sum(asked(subscription), look)}
    <p>${text}</p>
    <div class="actions">
      ${linkButton(payPath(live) + query, say('continueTo', { gateway }))}${help(look)}
    </div>
    ${details(subscription, look)}`
  return page(look, { title, mark: '', body })
}
