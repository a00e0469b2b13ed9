import { hours } from '../kernel/duration.ts'
import type { Moment, SubscriptionState, WishResult } from './change.ts'
import { draftOf, withPeriod, type Draft } from './draft.ts'
import { openFirst, openNext, payOpen } from './open-period.ts'
import { isInTrial } from './standing.ts'
import { carriedOut, ended, refused, underWay } from './wish-result.ts'

/** How long a payer has on the page before a card is charged that was to be charged already. */
const timeOnPage = hours(1)

/**
 * The payer pays what is owed on a page: in a trial the first period in advance, after a pause the
 * one that ends it.
 */
export function payPeriod(state: SubscriptionState, moment: Moment): WishResult {
  if (state.subscription.status === 'canceled') return ended
  if (state.live !== null) return underWay
  const draft = draftOf(state)
  const opened = state.open === null ? openOwed(draft, moment) : draft
  const { open } = opened.state
  // What has just been canceled is not paid for once more.
  const isCanceled = state.subscription.cancelAt !== null
  if (open === null || open.amount === 0n || isCanceled) {
    return refused('subscription_invalid', 'nothing of the subscription is to be paid now')
  }
  return carriedOut(payOpen(afterPage(opened, moment), null), moment)
}

/** Opens what may be paid though it was not asked for yet. */
function openOwed(draft: Draft, moment: Moment): Draft {
  const { state } = draft
  const { now } = moment
  const { status, trialEndsAt, paidUntil } = state.subscription
  if (isInTrial(state) && trialEndsAt !== null) return openFirst(draft, trialEndsAt)
  if (paidUntil === null || paidUntil > now) return draft
  if (status === 'paused') return openFirst(draft, now)
  return status === 'active' ? withAttempt(openNext(draft, paidUntil, moment), now) : draft
}

const withAttempt = (draft: Draft, nextAttemptAt: Date): Draft =>
  draft.state.open === null ? draft : withPeriod(draft, { ...draft.state.open, nextAttemptAt })

/** A charge that is late already would close the page under the payer's hands. */
function afterPage(draft: Draft, { now }: Moment): Draft {
  const at = draft.state.open?.nextAttemptAt ?? null
  return at !== null && at <= now ? withAttempt(draft, new Date(now.getTime() + timeOnPage)) : draft
}
