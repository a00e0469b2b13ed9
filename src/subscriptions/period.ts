import type { Money } from '../kernel/money.ts'
import * as field from '../kernel/noun.ts'
import { orNull, type Values } from '../kernel/noun.ts'
import type { SubscriptionStatus } from './subscription.ts'

export const periodKinds = ['trial', 'paid', 'brought'] as const
/** `brought`: paid elsewhere, before the subscription came here. */
export type PeriodKind = (typeof periodKinds)[number]

export const periodStates = ['open', 'paid', 'void', 'free'] as const
/**
 * - `open`: its money is owed; a subscription has one such period at most;
 * - `paid`: granted, for a paid payment or because it costs nothing;
 * - `void`: not owed any more, and not granted;
 * - `free`: granted without money: a trial, or what was brought along.
 */
export type PeriodState = (typeof periodStates)[number]

export const periodNeeds = ['nothing', 'new_card', 'confirmation'] as const
/** What an unpaid period needs of the payer: `confirmation` happens on the pay page (3-D Secure). */
export type PeriodNeeds = (typeof periodNeeds)[number]

/** What events have of a period, too. */
export const carriedFields = {
  /** Named by the subscription and the number: the same after a restore (`namedUuid`). */
  id: field.id('period'),
  /** 0: a trial, or brought along; the first that is charged is 1. */
  number: field.count({ label: 'period' }),
  startsAt: field.time({ label: 'begins' }),
  /** Exclusive. */
  endsAt: field.time(),
  amount: field.minorUnits(),
  currency: field.text(),
}

/** What JSON has of it. */
export const periodFields = {
  ...carriedFields,
  kind: field.choice(periodKinds),
  state: field.choice(periodStates),
  /** Whole periods that went by, unpaid and not charged, right before this one. */
  skippedPeriods: field.count(),
  /** Payments that have been made for it: the next is the attempt after this number. */
  paymentsMade: field.count(),
  /** Attempts that were declined. */
  declines: field.count({ label: 'declined' }),
  firstFailedAt: orNull(field.time()),
  /** When the card is charged next; null: not again by itself. */
  nextAttemptAt: orNull(field.time({ label: 'next charge' })),
  needs: field.choice(periodNeeds),
  paidPaymentId: orNull(field.id('payment', { label: 'paid by' })),
  paidAt: orNull(field.time()),
}

/** What is owed for which time. */
export interface SubscriptionPeriod extends Money, Values<typeof periodFields> {
  readonly subscriptionId: string
  /** When it was to begin as it was opened: its id and those of its payments are named by it. */
  readonly nominalStartsAt: Date
  /** Status of the subscription when the period was opened. */
  readonly statusBefore: SubscriptionStatus
  /** Its provider did not say for which time it was paid: it begins when that became known. */
  readonly isTimeAssumed: boolean
  /** Attempts in a row of which the provider had never heard. */
  readonly notMade: number
  /** The notice of its end that was sent last, 1 being the one closest to the end; null: none. */
  readonly lastNotice: number | null
}
