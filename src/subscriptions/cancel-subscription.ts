import type { Moment, SubscriptionState, WishResult } from './change.ts'
import { draftOf, withClosing, withSubscription } from './draft.ts'
import { end } from './end-subscription.ts'
import { isInTrial, isUnbegun } from './standing.ts'
import { carriedOut, ended, refused } from './wish-result.ts'

/**
 * Ends it now, or with what is paid. While a payment is undecided that is not known: paid, it ends
 * with the new period; not paid, at once.
 */
export function cancelSubscription(
  state: SubscriptionState,
  { at }: { readonly at: 'period_end' | 'now' },
  moment: Moment,
): WishResult {
  if (state.subscription.status === 'canceled') return ended
  const draft = draftOf(state)
  const cancelAt = at === 'now' ? null : endOfPaid(state, moment)
  if (cancelAt === null) return carriedOut(end(draft, 'requested', moment), moment)
  const planned = withSubscription(draft, { cancelAt })
  // Nobody has to pay what he has just canceled; in a trial, a page that is open may still be paid.
  return carriedOut(isInTrial(state) ? planned : withClosing(planned), moment)
}

/** The end of what is paid, or is being charged; null: there is no such time left. */
export function endOfPaid(state: SubscriptionState, { now }: Moment): Date | null {
  const { open, live, subscription } = state
  if (isInTrial(state)) return subscription.trialEndsAt
  if (open !== null && live !== null) return open.endsAt
  const { paidUntil } = subscription
  return paidUntil !== null && paidUntil > now ? paidUntil : null
}

/**
 * Ends a subscription that the provider was to manage, and whose checkout nobody can pay any more:
 * the caller has closed it. One that has begun meanwhile is the provider's to end.
 */
export function cancelUnbegun(state: SubscriptionState, moment: Moment): WishResult {
  if (state.subscription.status === 'canceled') return ended
  if (!isUnbegun(state)) {
    return refused('renewal_under_way', 'its checkout was completed meanwhile: try again')
  }
  const over = end(draftOf(state), 'requested', moment)
  return carriedOut({ ...over, closeCheckout: null }, moment)
}
