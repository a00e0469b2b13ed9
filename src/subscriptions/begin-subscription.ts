import type { Payment } from '../payments/payment.ts'
import type { Moment, NewSubscription, SubscriptionChange, SubscriptionState } from './change.ts'
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
function untouched(now: Date) {
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

/**
 * The checkout that begins a subscription which the provider will manage. It pays the first period;
 * before a trial it takes nothing, so its payment is of the trial's period, which costs nothing: what
 * is paid with it can never be a period that has a price.
 */
function beginWithCheckout(draft: Draft, moment: Moment): Draft {
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

/**
 * A subscription that its provider has begun with a payment of ours. What it is sold for is not known
 * until the provider is asked, which is due at once: until then it gives nothing, and costs what the
 * payment does.
 */
export function beginManaged(
  payment: Payment,
  { id, reference }: { readonly id: string; readonly reference: string },
  { now, policy }: Moment,
): Subscription {
  return {
    ...untouched(now),
    id,
    managedBy: 'provider',
    gateway: payment.gateway,
    merchantAccount: payment.merchantAccount,
    live: payment.live,
    providerReference: reference,
    status: 'incomplete',
    plan: null,
    payable: payment.payable,
    description: payment.description,
    customer: payment.customer,
    metadata: payment.metadata,
    amount: payment.amount,
    currency: payment.currency,
    every: { unit: 'month', count: 1 },
    // The provider says when periods begin and end.
    timeZone: 'UTC',
    paymentMethodId: null,
    graceAccess: policy.graceAccess ?? true,
    trialEndsAt: null,
    paidUntil: null,
    nextActionAt: now,
  }
}
