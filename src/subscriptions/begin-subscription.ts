import type { Moment, NewSubscription, SubscriptionChange, SubscriptionState } from './change.ts'
import { beginWithCheckout } from './begin-checkout.ts'
import { boundary } from './boundary.ts'
import { chargeOpen } from './charge-open.ts'
import { draftOf, fired, withPeriod, withSubscription, type Draft } from './draft.ts'
import { finish } from './finish.ts'
import { newPeriod, openFirst, payOpen } from './open-period.ts'
import type { Subscription } from './subscription.ts'

/**
 * Makes a subscription: in a trial, brought from another system, or with its first period, which is
 * charged, or paid on a page if no card is given. One that the provider will manage begins with its
 * checkout, whatever follows.
 */
export function beginSubscription(input: NewSubscription, moment: Moment): SubscriptionChange {
  const status = statusOf(input)
  const subscription: Subscription = { ...input, ...untouched(moment.now), status }
  const state: SubscriptionState = {
    subscription,
    open: null,
    current: null,
    live: null,
    lastNumber: -1,
    isCardUsable: input.paymentMethodId !== null,
  }
  const draft: Draft = {
    ...draftOf(state),
    before: null,
    cause: { reason: 'created', periodId: null },
  }
  return finish(begun(draft, moment), moment)
}

function statusOf({ managedBy, trialEndsAt, paidUntil }: NewSubscription): Subscription['status'] {
  // The provider says when its trial begins.
  if (managedBy === 'provider') return 'incomplete'
  if (trialEndsAt !== null) return 'trialing'
  return paidUntil === null ? 'incomplete' : 'active'
}

/** What nothing has happened to yet. */
export function untouched(now: Date) {
  return {
    providerReference: null,
    nextTerms: null,
    dueQuotas: null,
    anchorAt: null,
    anchorNumber: 1,
    cancelAt: null,
    pauseAt: null,
    resumeAt: null,
    suspendedAt: null,
    endedAt: null,
    endReason: null,
    eventNumber: 0,
    nextActionAt: null,
    actionError: null,
    createdAt: now,
    updatedAt: now,
  } as const
}

function begun(draft: Draft, moment: Moment): Draft {
  const { subscription } = draft.state
  const { managedBy, trialEndsAt, paidUntil, paymentMethodId, every, timeZone } = subscription
  if (managedBy === 'provider') return beginWithCheckout(draft, moment)
  if (trialEndsAt !== null) {
    return given(draft, { kind: 'trial', startsAt: moment.now, endsAt: trialEndsAt })
  }
  if (paidUntil !== null) {
    // It was paid for a whole period there: its end is announced as that of any other.
    const startsAt = boundary({ anchorAt: paidUntil, every, timeZone }, -1)
    const brought = given(draft, { kind: 'brought', startsAt, endsAt: paidUntil })
    return withSubscription(brought, { anchorAt: paidUntil })
  }
  const opened = openFirst({ ...draft, state: { ...draft.state, lastNumber: 0 } }, moment.now)
  const isFree = subscription.amount === 0n
  return paymentMethodId === null && !isFree ? payOpen(opened, null) : chargeOpen(opened, moment)
}

/** Time that is not paid for here: no other event tells that there is access. */
function given(
  draft: Draft,
  { kind, ...time }: { kind: 'trial' | 'brought'; startsAt: Date; endsAt: Date },
): Draft {
  const period = newPeriod(draft.state.subscription, { ...time, number: 0 })
  const created = fired(draft, { type: 'SubscriptionCreated', data: {} })
  return withPeriod(created, { ...period, kind, state: 'free', amount: 0n })
}
