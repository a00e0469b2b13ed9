import type { SubscriptionStatus } from './subscription.ts'

/** What the access that a subscription gives hangs on. */
export interface AccessFacts {
  readonly status: SubscriptionStatus
  /** It ends then. */
  readonly cancelAt: Date | null
  /** Since when a declined renewal cuts access; null: it does not. */
  readonly suspendedAt: Date | null
  readonly trialEndsAt: Date | null
  /** Whether it goes on by itself: a card is there, or none is needed. */
  readonly renewable: boolean
}

/** Which subscriptions count where it is asked what a customer has. */
export interface AccessOptions {
  /** Whether those of test money do; if left out, outside of production alone. */
  readonly test?: boolean | undefined
}

/**
 * Whether a customer has what a subscription pays for. By the clock, not by our worker: a planned
 * end takes access at its time, and a renewal that is late through no fault of the customer takes
 * none.
 */
export function hasAccess(facts: AccessFacts, now: Date): boolean {
  const { status, cancelAt, suspendedAt, trialEndsAt, renewable } = facts
  if (cancelAt !== null && cancelAt <= now) return false
  if (status === 'past_due') return suspendedAt === null
  if (status === 'trialing') return renewable || trialEndsAt === null || now < trialEndsAt
  return status === 'active'
}
