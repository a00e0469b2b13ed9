import type { Moment, SubscriptionChange } from './change.ts'
import type { Draft } from './draft.ts'
import { earliest, stepsOf } from './steps.ts'
import type { Subscription } from './subscription.ts'

/** What a decision changes, and when the subscription is looked at next. */
export function finish(draft: Draft, moment: Moment): SubscriptionChange {
  const { state, periods, payment, closeCheckout, events, reviews } = draft
  const isUntouched = state.subscription === draft.before && periods.length === 0
  const subscription: Subscription = {
    ...state.subscription,
    updatedAt: isUntouched ? state.subscription.updatedAt : moment.now,
    nextActionAt: nextActionAt(draft, moment),
  }
  return {
    subscription,
    periods,
    transition: transitionOf(draft),
    payment,
    closeCheckout,
    events,
    reviews,
  }
}

/** At once, if more is due. What waits for a live payment, also its closing, is asked again later. */
function nextActionAt({ state }: Draft, moment: Moment): Date | null {
  // When its provider is asked is planned by whoever asks: a grant in between forgets no bell.
  if (state.subscription.managedBy === 'provider') return state.subscription.nextActionAt
  const steps = stepsOf(state, moment)
  const isLive = state.live !== null
  return earliest(isLive ? steps.filter(({ at }) => at > moment.now) : steps)
}

function transitionOf({ before, state, cause }: Draft): SubscriptionChange['transition'] {
  const from = before?.status ?? null
  const to = state.subscription.status
  return cause === null || from === to ? null : { from, to, ...cause }
}
