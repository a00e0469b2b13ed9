import type { Money } from '../kernel/money.ts'
import type { Payment } from '../payments/payment.ts'
import type { SubscriptionState } from '../subscriptions/change.ts'
import type { Subscription } from '../subscriptions/subscription.ts'

/** What there is to pay of a subscription. */
export interface SubscriptionBill {
  readonly subscription: Subscription
  /** Null: nothing. */
  readonly owed: Owed | null
  /** The payment of it that can still take money: a page, or a charge of the saved card. */
  readonly live: Payment | null
  /** Whether the live payment is a charge of the saved card that waits for nobody. */
  readonly isCharging: boolean
}

/** What a customer can pay now, and for which time. */
export interface Owed extends Money {
  /** Null: the period begins once it is paid. */
  readonly startsAt: Date | null
  readonly endsAt: Date | null
  /** Of a trial that is not over: nobody has to pay yet. */
  readonly isInAdvance: boolean
}

/** What `payPeriod` would have paid: the open period, or one that may be opened for that. */
export function owedOf({ subscription, open, live }: SubscriptionState, now: Date): Owed | null {
  const { status, cancelAt } = subscription
  // A page that was open already may still be paid.
  if (status === 'canceled' || (cancelAt !== null && live === null)) return null
  const isInAdvance = status === 'trialing' && isLater(subscription.trialEndsAt, now)
  if (open !== null) {
    const { amount, currency } = open
    // The first period begins when it is paid.
    const { startsAt, endsAt } = status === 'incomplete' ? { startsAt: null, endsAt: null } : open
    return amount === 0n ? null : { amount, currency, startsAt, endsAt, isInAdvance }
  }
  const startsAt = startOfNext(subscription, now)
  const { amount, currency } = subscription.nextTerms ?? subscription
  if (startsAt === undefined || amount === 0n) return null
  return { amount, currency, startsAt, endsAt: null, isInAdvance }
}

/** Undefined: nothing may be paid now; null: it begins when it is paid. */
function startOfNext(subscription: Subscription, now: Date): Date | null | undefined {
  const { status, trialEndsAt, paidUntil } = subscription
  if (status === 'trialing') return isLater(trialEndsAt, now) ? trialEndsAt : undefined
  if (paidUntil === null || isLater(paidUntil, now)) return undefined
  if (status === 'paused') return null
  return status === 'active' ? paidUntil : undefined
}

function isLater(time: Date | null, now: Date): boolean {
  return time !== null && time > now
}
