import { namedUuid } from '../../src/kernel/named-uuid.ts'
import type { SubscriptionChange } from '../../src/subscriptions/change.ts'
import type { SubscriptionPeriod } from '../../src/subscriptions/period.ts'
import type { Subscription } from '../../src/subscriptions/subscription.ts'

const start = new Date('2026-03-01T12:00:00Z')
const end = new Date('2026-04-01T12:00:00Z')

/** A monthly subscription of 4999 USD that is paid until April. */
export function subscriptionOf(fields: Partial<Subscription> = {}): Subscription {
  return {
    id: namedUuid(start, 'a subscription'),
    managedBy: 'local',
    gateway: 'scripted',
    merchantAccount: null,
    live: null,
    providerReference: null,
    status: 'active',
    plan: 'gold',
    payable: { type: 'account', id: '42' },
    description: 'Gold',
    customer: { email: 'a@example.com' },
    metadata: null,
    amount: 4_999n,
    currency: 'USD',
    every: { unit: 'month', count: 1 },
    nextTerms: null,
    dueQuotas: null,
    timeZone: 'Europe/Kyiv',
    anchorAt: start,
    anchorNumber: 1,
    paymentMethodId: null,
    graceAccess: true,
    trialEndsAt: null,
    paidUntil: end,
    cancelAt: null,
    pauseAt: null,
    resumeAt: null,
    suspendedAt: null,
    endedAt: null,
    endReason: null,
    eventNumber: 0,
    nextActionAt: end,
    actionError: null,
    createdAt: start,
    updatedAt: start,
    ...fields,
  }
}

/** Its first period, free unless the fields say otherwise. */
export function periodOf(
  { id, amount, currency }: Subscription,
  fields: Partial<SubscriptionPeriod> = {},
): SubscriptionPeriod {
  const { number = 1 } = fields
  return {
    id: namedUuid(start, `subscription/${id}/${number}`),
    subscriptionId: id,
    number,
    kind: 'paid',
    state: 'free',
    startsAt: start,
    endsAt: end,
    nominalStartsAt: start,
    amount,
    currency,
    statusBefore: 'incomplete',
    skippedPeriods: 0,
    isTimeAssumed: false,
    paymentsMade: 0,
    declines: 0,
    notMade: 0,
    firstFailedAt: null,
    nextAttemptAt: null,
    needs: 'nothing',
    paidPaymentId: null,
    paidAt: null,
    lastNotice: null,
    ...fields,
  }
}

/** A change that only writes these. */
export function changeOf(
  subscription: Subscription,
  fields: Partial<SubscriptionChange> = {},
): SubscriptionChange {
  return {
    subscription,
    periods: [],
    transition: null,
    payment: null,
    closeCheckout: null,
    events: [],
    reviews: [],
    ...fields,
  }
}
