import type { Moment, SubscriptionChange, SubscriptionState } from './change.ts'
import { draftOf, withPeriod, withSubscription, type Draft } from './draft.ts'
import { finish } from './finish.ts'
import { isInTrial, isLeftToPayer } from './standing.ts'

/**
 * Charges this card from now on: at once, if something is owed; what is live is decided first.
 * The card that it has already is nothing new, however often it is reported.
 */
export function useCard(
  state: SubscriptionState,
  paymentMethodId: string,
  moment: Moment,
): SubscriptionChange {
  return finish(withCard(draftOf(state), paymentMethodId, moment), moment)
}

export function withCard(draft: Draft, paymentMethodId: string, moment: Moment): Draft {
  const { subscription } = draft.state
  if (subscription.status === 'canceled' || subscription.managedBy === 'provider') return draft
  if (subscription.paymentMethodId === paymentMethodId) return draft
  const changed = withSubscription(draft, { paymentMethodId })
  const { open, live, ...rest } = changed.state
  const given = { ...changed, state: { ...rest, open, live, isCardUsable: true } }
  if (open === null || isInTrial(given.state) || isLeftToPayer(given.state)) return given
  // A page is waited for as long as planned, unless no charge is: for want of a card.
  if (live?.isPage === true && open.needs !== 'new_card') return given
  return withPeriod(given, { ...open, nextAttemptAt: moment.now })
}
