import type { PeriodNeeds } from '../../subscriptions/period.ts'
import type { EndReason, ManagedBy, SubscriptionStatus } from '../../subscriptions/subscription.ts'

/** What each status means. */
export const statusWords: Readonly<Record<SubscriptionStatus, string>> = {
  incomplete: 'Its first period has not been paid yet.',
  trialing: 'In a trial, or the first period after it is being charged.',
  active: 'What is due is paid, or is being charged right now.',
  past_due: 'A renewal was declined. It is tried again.',
  paused: 'Nothing is charged until it is resumed.',
  canceled: 'It is over for good. A new one must be made to go on.',
}

export const endReasonWords: Readonly<Record<EndReason, string>> = {
  requested: 'Somebody asked for it.',
  payment_failed: 'A renewal was never paid.',
  trial_ended: 'The trial ended, and there was no card to charge.',
  incomplete: 'Its first period was never paid.',
  provider: 'The provider that manages it ended it.',
}

export const needsWords: Readonly<Record<PeriodNeeds, string>> = {
  nothing: 'Nothing of the customer: the card is charged again by itself.',
  new_card: 'Another card: the customer puts it in on the pay page.',
  confirmation: 'The customer must confirm the payment with the bank, on the pay page.',
}

export const managerWords: Readonly<Record<ManagedBy, string>> = {
  local: 'us: we charge a saved card',
  provider: 'the provider: it charges by itself',
}
