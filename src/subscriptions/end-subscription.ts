import type { Moment, SubscriptionState } from './change.ts'
import { fired, moved, withClosing, withSubscription, type Draft } from './draft.ts'
import { voidOpen } from './open-period.ts'
import { wishedAt } from './standing.ts'
import type { EndReason, PauseReason } from './subscription.ts'

/** Ends it for ever: what is open is not owed any more. */
export function end(draft: Draft, reason: EndReason, { now }: Moment): Draft {
  const { subscription, open } = draft.state
  const { status } = subscription
  const closed = withSubscription(voidOpen(withClosing(draft)), {
    ...noPlans,
    endedAt: now,
    endReason: reason,
    actionError: null,
  })
  const event = {
    type: 'SubscriptionCancelled',
    data: { previousStatus: status, reason },
  } as const
  const ended = moved(closed, 'canceled', { reason, periodId: open?.id ?? null })
  return fired(ended, event)
}

const noPlans = { pauseAt: null, resumeAt: null, nextActionAt: null } as const

/** Nothing is charged any more until it is resumed; what is open is not owed. */
export function pause(draft: Draft, reason: PauseReason): Draft {
  const { subscription, open } = draft.state
  const closed = withSubscription(voidOpen(withClosing(draft)), {
    pauseAt: null,
    suspendedAt: null,
    actionError: null,
  })
  const paused = moved(closed, 'paused', { reason, periodId: open?.id ?? null })
  const event = {
    type: 'SubscriptionPaused',
    data: { reason, resumesAt: subscription.resumeAt },
  } as const
  return fired(paused, event)
}

/** What becomes of it when its renewal is never paid. */
export function giveUp(draft: Draft, moment: Moment): Draft {
  return moment.policy.onUnpaid === 'pause'
    ? pause(withSubscription(draft, { resumeAt: null }), 'payment_failed')
    : end(draft, 'payment_failed', moment)
}

/**
 * Carries out a cancellation or a pause that waited for a charge: it was not paid, so there is
 * nothing to wait for. Null: none waits.
 */
export function endAsWished(draft: Draft, moment: Moment): Draft | null {
  const { state } = draft
  const { cancelAt, pauseAt } = state.subscription
  if (isWishDue(state, cancelAt, moment)) return end(draft, 'requested', moment)
  return isWishDue(state, pauseAt, moment) ? pause(draft, 'requested') : null
}

function isWishDue(state: SubscriptionState, wished: Date | null, { now }: Moment): boolean {
  return wished !== null && wishedAt(state, wished) <= now
}
