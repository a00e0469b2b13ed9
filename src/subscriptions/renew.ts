import type { Moment } from './change.ts'
import { chargeOpen } from './charge-open.ts'
import type { Draft } from './draft.ts'
import { openNext, voidOpen } from './open-period.ts'

/** Opens the period after what was paid or given, and charges it. */
export function renew(draft: Draft, moment: Moment): Draft {
  const { paidUntil, trialEndsAt } = draft.state.subscription
  const startsAt = paidUntil ?? trialEndsAt
  if (startsAt === null) return draft
  return chargeOpen(openNext(voidOpen(draft), startsAt, moment), moment)
}
