import type { Moment } from './change.ts'
import { chargeOpen } from './charge-open.ts'
import { fired, moved, withSubscription, type Draft } from './draft.ts'
import { openFirst, voidOpen } from './open-period.ts'

/** Ends a pause: within paid time at once, otherwise as soon as a new period is paid. */
export function resume(draft: Draft, moment: Moment): Draft {
  const { paidUntil } = draft.state.subscription
  const { now } = moment
  const resuming = withSubscription(draft, { resumeAt: null })
  if (paidUntil === null || paidUntil <= now) {
    const { open } = resuming.state
    return chargeOpen(open === null ? openFirst(resuming, now) : resuming, moment)
  }
  const active = moved(voidOpen(resuming), 'active', { reason: 'resumed', periodId: null })
  return fired(active, { type: 'SubscriptionResumed', data: {} })
}
