import type { Moment } from './change.ts'
import { withPeriod, type Draft } from './draft.ts'
import { newPeriod, openFirst, payOpen } from './open-period.ts'

/**
 * The checkout that begins a subscription which the provider will manage. It pays the first period;
 * before a trial it takes nothing, so its payment is of the trial's period, which costs nothing: what
 * is paid with it can never be a period that has a price.
 */
export function beginWithCheckout(draft: Draft, moment: Moment): Draft {
  return payOpen(openBegun(draft, moment), null)
}

function openBegun(draft: Draft, { now }: Moment): Draft {
  const { subscription } = draft.state
  const { trialEndsAt } = subscription
  if (trialEndsAt === null) {
    return openFirst({ ...draft, state: { ...draft.state, lastNumber: 0 } }, now)
  }
  const period = newPeriod(subscription, { number: 0, startsAt: now, endsAt: trialEndsAt })
  return withPeriod(draft, { ...period, kind: 'trial', amount: 0n })
}
