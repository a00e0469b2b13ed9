import { endOfPaid } from './cancel-subscription.ts'
import type { Moment, SubscriptionState, WishResult } from './change.ts'
import { draftOf, withClosing, withSubscription } from './draft.ts'
import { pause } from './end-subscription.ts'
import { carriedOut, ended, refused, underWay } from './wish-result.ts'

export interface PauseWish {
  readonly at: 'period_end' | 'now'
  /** When it resumes by itself; null: when somebody wishes. */
  readonly until: Date | null
}

/** Pauses it: with the end of what is paid, so that none of it is lost, or now. */
export function pauseSubscription(
  state: SubscriptionState,
  { at, until }: PauseWish,
  moment: Moment,
): WishResult {
  const { subscription, live } = state
  const { status } = subscription
  if (status === 'canceled') return ended
  if (status === 'incomplete' || status === 'trialing') {
    return refused('subscription_invalid', 'nothing of the subscription has been paid yet')
  }
  if (at === 'now' && live !== null) return underWay
  const draft = withSubscription(draftOf(state), { resumeAt: until })
  const pauseAt = at === 'now' || status === 'paused' ? null : endOfPaid(state, moment)
  if (until !== null && until <= (pauseAt ?? moment.now)) {
    return refused('subscription_invalid', 'the pause would end before it begins', 'until')
  }
  if (status === 'paused') return carriedOut(draft, moment)
  if (pauseAt === null) return carriedOut(pause(draft, 'requested'), moment)
  return carriedOut(withClosing(withSubscription(draft, { pauseAt })), moment)
}
