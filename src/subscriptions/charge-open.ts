import type { Moment } from './change.ts'
import { withPeriod, type Draft } from './draft.ts'
import { failWithoutCard } from './fail-period.ts'
import { grant } from './grant-period.ts'
import { payOpen } from './open-period.ts'

/** Charges the open period with the saved card: the only way to a charge. */
export function chargeOpen(draft: Draft, moment: Moment): Draft {
  const { open, subscription, isCardUsable } = draft.state
  if (open === null) return draft
  if (open.amount === 0n) return grant(draft, null, moment)
  if (moment.held) return withPeriod(draft, { ...open, nextAttemptAt: moment.now })
  const { paymentMethodId } = subscription
  return isCardUsable && paymentMethodId !== null
    ? payOpen(draft, paymentMethodId)
    : failWithoutCard(draft, moment)
}
