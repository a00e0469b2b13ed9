import type { Moment, SubscriptionState, WishResult } from './change.ts'
import { draftOf, withSubscription } from './draft.ts'
import { resume } from './resume.ts'
import { carriedOut, ended, underWay } from './wish-result.ts'

/** Takes back a planned end or pause, and ends a pause. */
export function resumeSubscription(state: SubscriptionState, moment: Moment): WishResult {
  const { status } = state.subscription
  if (status === 'canceled') return ended
  if (status === 'paused' && state.live !== null) return underWay
  const plans = { cancelAt: null, pauseAt: null, resumeAt: null }
  const draft = withSubscription(draftOf(state), plans)
  return carriedOut(status === 'paused' ? resume(draft, moment) : draft, moment)
}
