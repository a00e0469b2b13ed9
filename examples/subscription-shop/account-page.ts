import { html } from 'hono/html'
import type { PaymentMethod, SubscriptionDetails } from 'quittance'
import { card, type Html } from './layout.ts'
import { day, price, priceOf } from './magazine.ts'

/** How a subscription stands, what comes next, and what its reader can do. */
export function accountPage(
  subscription: SubscriptionDetails,
  saved: PaymentMethod | undefined,
): Html {
  return card(
    'Your subscription',
    html`${notice(subscription)}
      <dl>
        <dt>Plan</dt>
        <dd>${priceOf(subscription)}</dd>
        <dt>Access</dt>
        <dd><span class="badge">${subscription.access ? 'Open' : 'Closed'}</span></dd>
        <dt>Next</dt>
        <dd>${nextOf(subscription)}</dd>
        <dt>Card</dt>
        <dd>${saved === undefined ? 'None' : `···· ${saved.details.lastFour}`}</dd>
      </dl>
      ${buttons(subscription)}`,
  )
}

function nextOf(subscription: SubscriptionDetails): string {
  const { status, paymentMethodId, trialEndsAt, paidUntil, cancelAt, endedAt } = subscription
  const cost = price(subscription)
  if (endedAt !== null) return `Ended on ${day(endedAt)}`
  if (cancelAt !== null) return `Ends on ${day(cancelAt)}`
  if (status === 'trialing' && trialEndsAt !== null) {
    const end = day(trialEndsAt)
    return paymentMethodId === null ? `Free until ${end}` : `${cost} on ${end}, free until then`
  }
  if (status === 'active' && paidUntil !== null) return `${cost} on ${day(paidUntil)}`
  const again = subscription.openPeriod?.nextAttemptAt
  return again == null ? `${cost}, to be paid by you` : `${cost}, tried again on ${day(again)}`
}

/** What the reader should do, if anything: `payUrl` leads to the page of what is owed. */
function notice({ status, cancelAt, paymentMethodId, openPeriod, payUrl }: SubscriptionDetails) {
  if (openPeriod !== null && (status === 'past_due' || status === 'incomplete')) {
    const text = openPeriod.needs === 'confirmation' ? toConfirm : texts[status]
    return html`<div class="notice" role="alert">
      <p>${text}</p>
      <p><a class="button" href="${payUrl}">Pay ${price(openPeriod)}</a></p>
    </div>`
  }
  const isEnding = status === 'trialing' && paymentMethodId === null && cancelAt === null
  return isEnding && html`<p class="notice">Add a card to go on after your free days.</p>`
}

const toConfirm = 'Your bank wants you to confirm the payment.'
const texts = {
  past_due: 'Your card was declined.',
  incomplete: 'The first payment is not here yet.',
} as const

function buttons({ status, cancelAt, paymentMethodId }: SubscriptionDetails): Html {
  if (status === 'canceled') return html`<a class="button" href="/">Subscribe again</a>`
  const quiet = cancelAt === null ? button('cancel', 'Cancel', 'quiet') : button('resume', 'Go on')
  if (status === 'incomplete') return quiet
  return html`${button('card', paymentMethodId === null ? 'Add a card' : 'Change card', 'quiet')}
  ${quiet}`
}

function button(wish: string, text: string, kind = ''): Html {
  return html`<form method="post" action="/account/${wish}">
    <button class="${kind}">${text}</button>
  </form>`
}
