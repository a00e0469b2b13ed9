import { html } from 'hono/html'
import { standingsOf } from '../../billing/standings-of.ts'
import type { Html } from '../../http/pages/layout.ts'
import { isUuid } from '../../kernel/uuid.ts'
import type { SubscriptionDetails } from '../../wire/subscription-details.ts'
import { subscriptionNoun } from '../../wire/subscription.ts'
import type { QuotaUsage } from '../../wire/usage.ts'
import { actionLink } from '../action.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { customerOf } from '../parts/customer.ts'
import { subscriptionBadge } from '../parts/badges.ts'
import { outwards } from '../parts/links.ts'
import { nounFacts, type Cells } from '../parts/noun.ts'
import { payableOf } from '../parts/payable.ts'
import { shown } from '../parts/shown.ts'
import { amount, idText, modeBadge, shortId, time } from '../parts/values.ts'
import { endReasonWords, managerWords, needsWords, statusWords } from '../words/subscriptions.ts'
import { chargesOf, periodsOf, quotasOf, timelineOf, type Charged } from './subscription-lists.ts'
import { termsOf } from './subscriptions.ts'

/** One subscription: who has access, what is owed, and what happened to it. */
export async function subscriptionPage(visit: Visit): Promise<ConsolePage | undefined> {
  const { console, params } = visit
  const { core } = console
  const { id = '' } = params
  const found = isUuid(id) ? await core.subscriptions.get(id) : undefined
  if (found === undefined) return undefined
  const quotas = await core.usage.get(id)
  const standingOf = await standingsOf(core, found.payments)
  const isElsewhere = !found.access && (await core.subscriptions.access(found.payable))
  return {
    title: `Subscription ${shortId(id)}`,
    section: 'subscriptions',
    beside: html`${subscriptionBadge(found.status)} ${modeBadge(found.live)} ${termsOf(found)}
      <span class="actions">${actionsOf(visit, found)}</span>`,
    body: bodyOf(visit, found, { quotas, isElsewhere, standingOf }),
  }
}

interface Beside extends Pick<Charged, 'standingOf'> {
  readonly quotas: readonly QuotaUsage[]
  /** Whether another subscription for the same gives access. */
  readonly isElsewhere: boolean
}

function bodyOf(visit: Visit, found: SubscriptionDetails, beside: Beside): Html {
  const { quotas, isElsewhere, standingOf } = beside
  return html`<div class="panel">
      <p>${statusWords[found.status]} ${accessOf(visit, found, isElsewhere)}</p>
      ${owedOf(visit, found)} ${errorOf(found)}
    </div>
    ${factsOf(visit, found)}
    <h2>What happened</h2>
    ${timelineOf(visit, { found, standingOf })}
    <h2>Periods</h2>
    ${periodsOf(visit, found)}
    <h2>Charges</h2>
    ${chargesOf(visit, { found, standingOf })} ${quotas.length > 0 && quotasOf(visit, quotas)}`
}

function actionsOf(visit: Visit, found: SubscriptionDetails): Html {
  if (found.status === 'canceled') return html``
  const at = `${visit.console.path}/subscriptions/${found.id}`
  const isPlanned = found.cancelAt !== null || found.pauseAt !== null
  const isManaged = found.managedBy === 'provider'
  return html`${isManaged && actionLink(visit, `${at}/sync`, 'Ask now')}
  ${(isPlanned || found.status === 'paused') && actionLink(visit, `${at}/resume`, 'Resume')}
  ${!isManaged && actionLink(visit, `${at}/change`, 'Change plan')}
  ${found.status !== 'paused' && actionLink(visit, `${at}/pause`, 'Pause')}
  ${actionLink(visit, `${at}/cancel`, 'Cancel')}`
}

/** Whether who pays for it has access, and until when. */
function accessOf({ console }: Visit, found: SubscriptionDetails, isElsewhere: boolean): Html {
  const who = payableOf(console, found.payable)
  if (isElsewhere) {
    return html`It gives <b>no access</b>; ${who} has access by another subscription.`
  }
  if (!found.access) return html`<b>${who} has no access.</b>`
  return html`<b>${who} has access</b>, ${untilOf(found, console.now())}.`
}

function untilOf(found: SubscriptionDetails, now: Date): Html {
  const { cancelAt, pauseAt, status, trialEndsAt, paidUntil, renewable } = found
  if (cancelAt !== null) return html`until it ends at ${time(cancelAt, now)}`
  if (pauseAt !== null) return html`until it pauses at ${time(pauseAt, now)}`
  if (status === 'past_due') return html`as long as the renewal is tried again`
  if (status === 'trialing' && trialEndsAt !== null) {
    const after = renewable ? 'then it is charged' : 'for there is no card to charge'
    return html`until the trial ends at ${time(trialEndsAt, now)}; ${after}`
  }
  if (paidUntil === null) return html`as long as it is active`
  return html`paid until ${time(paidUntil, now)}, and then renewed`
}

function owedOf({ console }: Visit, { openPeriod, payUrl }: SubscriptionDetails): Html | false {
  if (openPeriod === null) return false
  const now = console.now()
  const { nextAttemptAt, needs, declines, number } = openPeriod
  const declined =
    declines === 0 ? '' : ` It was declined ${declines === 1 ? 'once' : `${declines} times`}.`
  const next =
    nextAttemptAt === null
      ? html`It is not charged again by itself.`
      : html`It is charged next at ${time(nextAttemptAt, now)}.`
  return html`<p>
      Owed for period ${number}: <b>${amount(openPeriod)}</b>.${declined} ${next}
      ${declines > 0 && needsWords[needs]}
    </p>
    <p>The customer pays, or puts in another card, at ${outwards(payUrl)}</p>`
}

function errorOf({ actionError }: SubscriptionDetails): Html | false {
  if (actionError === null) return false
  return html`<p class="fault">The last charge was not made: ${shown(actionError)}</p>`
}

/** What stands beside the title or in the panel, and what other facts say. */
const without = [
  'status',
  'access',
  'renewable',
  'terms',
  'amount',
  'currency',
  'every',
  'live',
  'card',
  'actionError',
]

function factsOf(visit: Visit, found: SubscriptionDetails): Html {
  return nounFacts(subscriptionNoun, found, { visit, cells, without })
}

const cells: Cells<SubscriptionDetails> = {
  customer: customerOf,
  managedBy: ({ managedBy }) => managerWords[managedBy],
  providerReference: ({ providerReference }) => idText(providerReference),
  paymentMethodId: ({ paymentMethodId, renewable }) =>
    html`${idText(paymentMethodId)}${
      paymentMethodId !== null && !renewable && ', which cannot be charged'
    }`,
  endReason: ({ endReason }) => endReason !== null && endReasonWords[endReason],
  nextTerms: ({ nextTerms }) =>
    nextTerms !== null && html`${termsOf(nextTerms)}, from period ${nextTerms.fromNumber} on`,
}
