import type { SubscriptionState } from './change.ts'
import type { Subscription } from './subscription.ts'
import { nextTermsOf } from './terms.ts'

/** In a trial that has not ended by our steps: nothing is owed yet, but may be paid in advance. */
export function isInTrial({ subscription }: SubscriptionState): boolean {
  return subscription.status === 'trialing' && subscription.anchorAt === null
}

/** Whether it goes on by itself: its card is there, or nothing is to be paid. */
export function canRenew(state: SubscriptionState): boolean {
  const { amount } = state.open ?? nextTermsOf(state)
  const isManaged = state.subscription.managedBy === 'provider'
  return isManaged || state.isCardUsable || amount === 0n
}

/** Paused, and no charge is planned of what would end that: only its payer can pay it. */
export function isLeftToPayer({ subscription, open }: SubscriptionState): boolean {
  return subscription.status === 'paused' && open !== null && open.nextAttemptAt === null
}

/** When what was paid or given is over; null: nothing was. */
export function paidTimeEndsAt(state: SubscriptionState): Date | null {
  const { trialEndsAt, paidUntil } = state.subscription
  return isInTrial(state) ? trialEndsAt : paidUntil
}

/** The same for whoever only reads it; the provider needs no card of ours. */
export function isRenewable(subscription: Subscription, isCardUsable: boolean): boolean {
  const { amount } = subscription.nextTerms ?? subscription
  return subscription.managedBy === 'provider' || isCardUsable || amount === 0n
}

/**
 * When a planned end or pause is carried out: at its time, or as soon as nothing that was paid is
 * left. A wish made during a charge is planned for the end of what is being charged.
 */
export function wishedAt(state: SubscriptionState, planned: Date): Date {
  const paidEnd = paidTimeEndsAt(state) ?? state.subscription.createdAt
  return paidEnd < planned ? paidEnd : planned
}

/**
 * Whether it waits for the checkout that begins it, and nothing says yet that its provider knows of
 * it: what the payer has done there is a granted period at least.
 */
export function isUnbegun({ subscription, current }: SubscriptionState): boolean {
  const { managedBy, providerReference, status } = subscription
  return (
    managedBy === 'provider' &&
    providerReference === null &&
    status === 'incomplete' &&
    current === null
  )
}
