import { hours } from '../kernel/duration.ts'
import { assertNever } from '../kernel/errors.ts'
import type { DecidedPayment, Moment, SubscriptionChange, SubscriptionState } from './change.ts'
import { draftOf, withPeriod, withReview, withSubscription, type Draft } from './draft.ts'
import { end, endAsWished } from './end-subscription.ts'
import { failOpen, needsAfter } from './fail-period.ts'
import { finish } from './finish.ts'
import { grant } from './grant-period.ts'
import { voidOpen } from './open-period.ts'
import { payManaged } from './pay-managed.ts'
import type { SubscriptionPeriod } from './period.ts'
import { isInTrial, isLeftToPayer, isUnbegun } from './standing.ts'

/** How long a charge waits that failed by a fault of our own. */
export const pauseAfterFault = hours(1)

/** So many attempts in a row that no provider has heard of are a fault of our own. */
export const notMadeLimit = 3

/**
 * What a payment of a period does to its subscription, once it is decided. `state.live` is without
 * it. Whatever is not for the open period changes nothing, unless it is money.
 */
export function takePayment(
  state: SubscriptionState,
  decided: DecidedPayment,
  moment: Moment,
): SubscriptionChange {
  if (state.managed !== undefined) return takeManaged(state, decided, moment)
  return finish(taken(draftOf(state), decided, moment), moment)
}

/** Its provider says what failed; what is paid is granted. */
function takeManaged(
  state: SubscriptionState,
  decided: DecidedPayment,
  moment: Moment,
): SubscriptionChange {
  const begun = takeCheckout(state, decided, moment)
  if (begun !== null) return begun
  const unchanged = finish(draftOf(state), moment)
  if (decided.kind !== 'paid') return unchanged
  const { id, period } = decided
  const { chargedAt = moment.now, ...stated } = decided.stated ?? {}
  const { amount, currency } = period
  const payment = { id, period, stated, amount, currency, chargedAt }
  const known = { isFirst: true, isStanding: false } as const
  return payManaged(state, { ...payment, ...known }, moment)?.change ?? unchanged
}

function taken(draft: Draft, decided: DecidedPayment, moment: Moment): Draft {
  if (decided.kind === 'paid') return takePaid(draft, decided, moment)
  const { open, live } = draft.state
  // Another attempt is under way: what became of an earlier one has no say any more.
  if (open === null || open.id !== decided.period.id || live !== null) return draft
  if (decided.isPage) return leavePage(draft, decided, moment)
  // What the payer had to confirm has fired as a failure, and is planned for.
  if (open.needs === 'confirmation') return takeUnconfirmed(draft, decided, moment)
  return takeUnpaid(draft, decided, moment)
}

/** Money: it grants the period that waits for it, or somebody has to look at it. */
function takePaid(draft: Draft, decided: DecidedPayment, moment: Moment): Draft {
  const { id: paymentId, period } = decided
  const withCard = keepCard(draft, decided)
  const { open, live } = withCard.state
  if (open?.id === period.id) {
    const granted = grant(withCard, paymentId, moment)
    // An earlier attempt was paid after all: what is under way must not be paid as well.
    return live === null ? granted : { ...granted, closeCheckout: live.id }
  }
  if (period.paidPaymentId === paymentId) return withCard
  const reason = period.state === 'paid' ? 'period_paid_twice' : 'period_void'
  return withReview(withCard, { reason, periodId: period.id, paymentId })
}

/** A card that was saved with a payment on a page is the one that is charged from now on. */
function keepCard(draft: Draft, { isPage, paymentMethodId }: DecidedPayment): Draft {
  const { status } = draft.state.subscription
  if (!isPage || paymentMethodId === null || status === 'canceled') return draft
  const kept = withSubscription(draft, { paymentMethodId })
  return { ...kept, state: { ...kept.state, isCardUsable: true } }
}

type Unpaid = Exclude<DecidedPayment, { kind: 'paid' }>

function takeUnpaid(draft: Draft, decided: Unpaid, moment: Moment): Draft {
  switch (decided.kind) {
    case 'declined': {
      const hasNewCard = hasOtherCard(draft, decided)
      const needs = hasNewCard ? 'nothing' : needsAfter(decided.decline)
      return failOpen(draft, { paymentId: decided.id, needs, hasNewCard }, moment)
    }
    case 'not_made':
      return takeNotMade(draft, moment)
    case 'ours':
      return takeOurs(draft, decided.text, moment)
    default:
      return assertNever(decided)
  }
}

/** The customer gave another card while the old one was being charged. */
function hasOtherCard({ state }: Draft, { paymentMethodId }: DecidedPayment): boolean {
  return state.isCardUsable && state.subscription.paymentMethodId !== paymentMethodId
}

/** No money was asked for: at once again, but not for ever. */
function takeNotMade(draft: Draft, moment: Moment): Draft {
  const { open } = draft.state
  if (open === null) return draft
  const notMade = open.notMade + 1
  const counted = withPeriod(draft, { ...open, notMade, nextAttemptAt: moment.now })
  const isFault = notMade >= notMadeLimit
  return isFault
    ? takeOurs(counted, `the provider knows nothing of ${notMade} charges in a row`, moment)
    : (endAsWished(counted, moment) ?? counted)
}

/** A fault of our own never touches the customer. */
function takeOurs(draft: Draft, text: string, moment: Moment): Draft {
  const { open } = draft.state
  if (open === null) return draft
  const nextAttemptAt = new Date(moment.now.getTime() + pauseAfterFault)
  const waiting = withPeriod(draft, { ...open, nextAttemptAt })
  return endAsWished(draft, moment) ?? withSubscription(waiting, { actionError: text })
}

/** The payer did not confirm the charge: it goes on as was planned when he was asked to. */
function takeUnconfirmed(draft: Draft, decided: Unpaid, moment: Moment): Draft {
  const { open, subscription } = draft.state
  if (open === null) return draft
  const wished = endAsWished(draft, moment)
  if (wished !== null) return wished
  if (subscription.status === 'paused') return voidOpen(draft)
  return withPeriod(draft, { ...open, ...planAfter(draft, open, { decided, moment }) })
}

function planAfter(
  draft: Draft,
  open: SubscriptionPeriod,
  { decided, moment }: { decided: Unpaid; moment: Moment },
): Partial<SubscriptionPeriod> {
  if (hasOtherCard(draft, decided)) return { nextAttemptAt: moment.now }
  const isHard = decided.kind === 'declined' && decided.decline === 'hard'
  return isHard ? { needs: 'new_card', nextAttemptAt: null } : { nextAttemptAt: open.nextAttemptAt }
}

/** Nobody was refused: the payer left the page. It goes on as was planned before it. */
function leavePage(draft: Draft, decided: Unpaid, moment: Moment): Draft {
  if (isInTrial(draft.state)) return draft
  const wished = endAsWished(draft, moment)
  if (wished !== null) return wished
  const left =
    decided.kind === 'ours' ? withSubscription(draft, { actionError: decided.text }) : draft
  return isLeftToPayer(left.state) ? voidOpen(left) : left
}

/**
 * What the checkout that begins a subscription at its provider does to it, where that is no grant: it
 * came to nothing, or it has given a trial, for nothing. Null: it does something else, or nothing.
 */
function takeCheckout(
  state: SubscriptionState,
  decided: DecidedPayment,
  moment: Moment,
): SubscriptionChange | null {
  const isTrial = decided.period.kind === 'trial'
  if (decided.kind === 'paid') {
    return isTrial ? finish(withTrialGiven(draftOf(state), decided), moment) : null
  }
  // It was the only one: two could begin two subscriptions at the provider.
  const isOver = isUnbegun(state) && state.open?.id === decided.period.id && state.live === null
  return isOver ? finish(end(draftOf(state), 'incomplete', moment), moment) : null
}

/**
 * The provider says when the trial has begun. One that was given up has begun there all the same,
 * which only a person can end.
 */
function withTrialGiven(draft: Draft, { id: paymentId, period }: DecidedPayment): Draft {
  if (period.state === 'open') return withPeriod(draft, { ...period, state: 'free' })
  if (period.state !== 'void') return draft
  return withReview(draft, { reason: 'period_void', periodId: period.id, paymentId })
}
