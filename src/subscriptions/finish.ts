import { hours } from '../kernel/duration.ts'
import type { Moment, SubscriptionChange } from './change.ts'
import type { Draft } from './draft.ts'
import { earliest, stepsOf } from './steps.ts'
import type { Subscription } from './subscription.ts'
import { quotasToGive } from './terms.ts'

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

/**
 * At once, if more is due, or quotas are to be given, which any step does. What waits for a live
 * payment, also its closing, is asked again later.
 */
function nextActionAt({ state, before }: Draft, moment: Moment): Date | null {
  // When its provider is asked is planned by whoever asks: a grant in between forgets no change.
  if (state.subscription.managedBy === 'provider') return nextOfManaged({ state, before }, moment)
  if (quotasToGive(state) !== null) return moment.now
  const steps = stepsOf(state, moment)
  const isLive = state.live !== null
  return earliest(isLive ? steps.filter(({ at }) => at > moment.now) : steps)
}

/** A new one is looked at when its first payment has taken too long. */
function nextOfManaged(
  { state, before }: Pick<Draft, 'state' | 'before'>,
  { now, policy }: Moment,
): Date | null {
  if (before !== null) return state.subscription.nextActionAt
  return new Date(now.getTime() + hours(policy.incompleteHours))
}

function transitionOf({ before, state, cause }: Draft): SubscriptionChange['transition'] {
  const from = before?.status ?? null
  const to = state.subscription.status
  return cause === null || from === to ? null : { from, to, ...cause }
}
