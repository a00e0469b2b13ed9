import type { Moment } from './change.ts'
import { chargeOpen } from './charge-open.ts'
import { fired, withSubscription, type Draft } from './draft.ts'
import { end } from './end-subscription.ts'
import { renew } from './renew.ts'
import type { EndReason } from './subscription.ts'

/** A trial is over, and nothing follows. */
export function endTrial(draft: Draft, reason: EndReason, moment: Moment): Draft {
  return end(trialEnded(draft, false), reason, moment)
}

/** A trial is over, and the first period begins: also one that was to be paid in advance. */
export function convertTrial(draft: Draft, moment: Moment): Draft {
  const { open, subscription } = draft.state
  const ended = trialEnded(draft, true)
  if (open === null || open.endsAt <= moment.now) return renew(ended, moment)
  const { trialEndsAt: anchorAt } = subscription
  return chargeOpen(withSubscription(ended, { anchorAt, anchorNumber: open.number }), moment)
}

function trialEnded(draft: Draft, converts: boolean): Draft {
  return fired(draft, { type: 'TrialEnded', data: { converts } })
}
