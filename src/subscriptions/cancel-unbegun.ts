import type { Moment, SubscriptionState, WishResult } from './change.ts'
import { draftOf } from './draft.ts'
import { end } from './end-subscription.ts'
import { isUnbegun } from './standing.ts'
import { carriedOut, ended, refused } from './wish-result.ts'

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
