import type { Money } from '../kernel/money.ts'
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

/** What is owed for which time. */
export interface SubscriptionPeriod extends Money {
  /** Named by the subscription and the number: the same after a restore (`namedUuid`). */
  readonly id: string
  readonly subscriptionId: string
  /** 0: a trial, or brought along; the first that is charged is 1. */
  readonly number: number
  readonly kind: PeriodKind
  readonly state: PeriodState
  readonly startsAt: Date
  /** Exclusive. */
  readonly endsAt: Date
  /** When it was to begin as it was opened: its id and those of its payments are named by it. */
  readonly nominalStartsAt: Date
  /** Status of the subscription when the period was opened. */
  readonly statusBefore: SubscriptionStatus
  /** Whole periods that went by, unpaid and not charged, right before this one. */
  readonly skippedPeriods: number
  /** Its provider did not say for which time it was paid: it begins when that became known. */
  readonly isTimeAssumed: boolean
  /** Payments that have been made for it: the next is the attempt after this number. */
  readonly paymentsMade: number
  /** Attempts that were declined. */
  readonly declines: number
  /** Attempts in a row of which the provider had never heard. */
  readonly notMade: number
  readonly firstFailedAt: Date | null
  /** When the card is charged next; null: not again by itself. */
  readonly nextAttemptAt: Date | null
  readonly needs: PeriodNeeds
  readonly paidPaymentId: string | null
  readonly paidAt: Date | null
  /** The notice of its end that was sent last, 1 being the one closest to the end; null: none. */
  readonly lastNotice: number | null
}
