import type { Money } from '../kernel/money.ts'
import type { PaymentOutcome, StatedPeriod } from '../payments/outcome.ts'
import type { PlannedEvent } from './events.ts'
import type { Interval, Subscription, SubscriptionStatus } from './subscription.ts'
import type { SubscriptionPeriod } from './period.ts'

/** What a merchant wants of every subscription; lengths in days or hours as the names say. */
export interface SubscriptionPolicy {
  /** Days from the first decline to each further attempt, ascending. */
  readonly retryDays: readonly number[]
  /** What becomes of a subscription whose renewal is never paid. */
  readonly onUnpaid: 'cancel' | 'pause'
  /** Days before the end of a trial at which TrialWillEnd fires. */
  readonly trialNoticeDays: readonly number[]
  /** Days before the end of a paid period at which SubscriptionPeriodEnding fires. */
  readonly periodNoticeDays: readonly number[]
  /** How long the first payment may take. */
  readonly incompleteHours: number
  /** Whether one that its provider began keeps access while it is past due; true if left out. */
  readonly graceAccess?: boolean
}

/** What a decision is made with, besides the subscription. */
export interface Moment {
  /** The database's time: no other clock decides about money. */
  readonly now: Date
  readonly policy: SubscriptionPolicy
  /** Charges are on hold, or our clock and the database's differ: ends and notices go on. */
  readonly held: boolean
}

/** A payment of a period that can still take money. */
export interface LivePayment {
  readonly id: string
  readonly periodId: string
  /** Whether it is a page on which the payer pays; otherwise a saved card is being charged. */
  readonly isPage: boolean
  /** The charge of the saved card waits for the payer to confirm it (3-D Secure). */
  readonly needsPayer: boolean
  readonly expiresAt: Date | null
}

/** A subscription as it stands, its row locked. */
export interface SubscriptionState {
  readonly subscription: Subscription
  /** The period that waits for its money. */
  readonly open: SubscriptionPeriod | null
  /** The period with the latest start that was granted, paid or free; null: none yet. */
  readonly current: SubscriptionPeriod | null
  /** The live payment of the open period. */
  readonly live: LivePayment | null
  /** The highest number of its periods, void ones included; -1: it has none. */
  readonly lastNumber: number
  /** Whether its saved card is there and can be charged. */
  readonly isCardUsable: boolean
  /** Of one that its provider manages. */
  readonly managed?: ManagedFacts
}

/** What a decision about a subscription needs besides, if its provider manages it. */
export interface ManagedFacts {
  /**
   * What it is sold for is said by:
   * - `us`: it was made here, and has to be stated with our terms;
   * - `payment`: the provider began it with a payment of ours, and nothing but its name for that
   *   payment ties the two: it has to be stated with the payment's money;
   * - `provider`: as it is stated.
   */
  readonly termsBy: 'us' | 'payment' | 'provider'
  /** SubscriptionCreated has fired. */
  readonly isAnnounced: boolean
  /** Its latest periods, in any order. */
  readonly periods: readonly SubscriptionPeriod[]
}

/** A payment of a period to be written, and then to be charged by the process that wrote it. */
export interface PeriodPayment extends Money {
  /** Named by the period and the attempt (`namedUuid`). */
  readonly id: string
  readonly periodId: string
  readonly attempt: number
  /** The saved card to charge; null: the payer pays on a page. */
  readonly paymentMethodId: string | null
  /** The plan of the period. */
  readonly plan: string | null
}

/** An event of a subscription: what fired, and its claim. */
export type SubscriptionEvent = PlannedEvent & {
  readonly dedupKey: string
  readonly eventNumber: number
}

/** What a person has to look at: money that bought nothing. */
export interface PeriodReview {
  readonly reason: 'period_paid_twice' | 'period_void'
  readonly periodId: string
  readonly paymentId: string
}

/** The provider has other terms than those that were sold here. */
export interface TermsReview {
  readonly reason: 'terms_mismatch'
  /** What it charges otherwise than for the money. */
  readonly detail?: string
  readonly stated: Money & { readonly reference: string }
  readonly expected: Money
}

/**
 * Everything that one decision changes, as it is afterwards. It is written in one transaction, with
 * the subscription's row locked.
 */
export interface SubscriptionChange {
  readonly subscription: Subscription
  /** New periods, and those that changed. */
  readonly periods: readonly SubscriptionPeriod[]
  readonly transition: {
    readonly from: SubscriptionStatus | null
    readonly to: SubscriptionStatus
    readonly reason: string
    readonly periodId: string | null
  } | null
  readonly payment: PeriodPayment | null
  /** A page, or a charge that waits for its payer, that is to be closed at the provider. */
  readonly closeCheckout: string | null
  readonly events: readonly SubscriptionEvent[]
  readonly reviews: readonly (PeriodReview | TermsReview)[]
}

/** The time of a charge, as far as it is stated. */
export type StatedTime = StatedPeriod & Pick<PaymentOutcome, 'chargedAt'>

/** A payment of a period that was decided. */
export type DecidedPayment = {
  readonly id: string
  readonly period: SubscriptionPeriod
  readonly isPage: boolean
  /** The saved card that it charged, or was saved with it. */
  readonly paymentMethodId: string | null
} &
  /** `stated`: the time that it pays for, if its report says so. */
  (
    | { readonly kind: 'paid'; readonly stated?: StatedTime }
    | { readonly kind: 'declined'; readonly decline: 'soft' | 'hard' | 'authentication' }
    /** The provider never heard of it, or it was canceled. */
    | { readonly kind: 'not_made' }
    /** Refused by a fault of our own: a key, a setting, an amount. */
    | { readonly kind: 'ours'; readonly text: string }
  )

/** A wish of the merchant that was carried out, or why it was not. */
export type WishResult =
  | { readonly kind: 'changed'; readonly change: SubscriptionChange }
  | WishRefusal

export interface WishRefusal {
  readonly kind: 'refused'
  readonly reason: 'subscription_ended' | 'renewal_under_way' | 'subscription_invalid'
  /** The field at fault, if it is one. */
  readonly field?: string
  readonly text: string
}

/** A new subscription, checked. */
export interface NewSubscription extends Omit<
  Subscription,
  | 'status'
  | 'nextTerms'
  | 'dueQuotas'
  | 'anchorAt'
  | 'anchorNumber'
  | 'cancelAt'
  | 'pauseAt'
  | 'resumeAt'
  | 'suspendedAt'
  | 'endedAt'
  | 'endReason'
  | 'eventNumber'
  | 'nextActionAt'
  | 'actionError'
  | 'createdAt'
  | 'updatedAt'
  | 'providerReference'
> {
  readonly every: Interval
}
