import type { DecidedPayment, Moment, SubscriptionChange, SubscriptionState } from './change.ts'
import { draftOf, withPeriod, withReview, type Draft } from './draft.ts'
import { end } from './end-subscription.ts'
import { finish } from './finish.ts'
import { isUnbegun } from './standing.ts'

/**
 * What the checkout that begins a subscription at its provider does to it, where that is no grant: it
 * came to nothing, or it has given a trial, for nothing. Null: it does something else, or nothing.
 */
export function takeCheckout(
  state: SubscriptionState,
  decided: DecidedPayment,
  moment: Moment,
): SubscriptionChange | null {
  const isTrial = decided.period.kind === 'trial'
  if (decided.kind === 'paid') {
    return isTrial ? finish(withTrialGiven(draftOf(state), decided), moment) : null
  }
  // It was the only one: two could begin two subscriptions at the provider.
  const isOver = isUnbegun(state) && state.open?.id === decided.period.id && state.live === null
  return isOver ? finish(end(draftOf(state), 'incomplete', moment), moment) : null
}

/**
 * The provider says when the trial has begun. One that was given up has begun there all the same,
 * which only a person can end.
 */
function withTrialGiven(draft: Draft, { id: paymentId, period }: DecidedPayment): Draft {
  if (period.state === 'open') return withPeriod(draft, { ...period, state: 'free' })
  if (period.state !== 'void') return draft
  return withReview(draft, { reason: 'period_void', periodId: period.id, paymentId })
}
