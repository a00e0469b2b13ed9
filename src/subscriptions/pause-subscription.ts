import { endOfPaid } from './cancel-subscription.ts'
import type { Moment, SubscriptionState, WishResult } from './change.ts'
import { draftOf, withClosing, withSubscription } from './draft.ts'
import { pause } from './end-subscription.ts'
import { voidOpen } from './open-period.ts'
import { carriedOut, ended, refused, underWay } from './wish-result.ts'

export interface PauseWish {
  readonly at: 'period_end' | 'now'
  /** When it resumes by itself; null: when somebody wishes. */
  readonly until: Date | null
}

/**
 * Pauses it: with the end of what is paid, so that none of it is lost, or now. One that is paused
 * stays so until then, also if it was about to be resumed.
 */
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
  const isPaused = status === 'paused'
  if (live !== null && (at === 'now' || isPaused)) return underWay
  const pauseAt = at === 'now' || isPaused ? null : endOfPaid(state, moment)
  const begins = pauseAt ?? moment.now
  if (until !== null && until <= begins) {
    const text = `the pause would end before it begins on ${begins.toISOString()}`
    return refused('subscription_invalid', text, 'until')
  }
  const draft = withSubscription(draftOf(state), { resumeAt: until })
  // What was to end the pause, and waits for its charge, is not owed any more.
  if (isPaused) return carriedOut(withSubscription(voidOpen(draft), { actionError: null }), moment)
  if (pauseAt === null) return carriedOut(pause(draft, 'requested'), moment)
  return carriedOut(withClosing(withSubscription(draft, { pauseAt })), moment)
}
