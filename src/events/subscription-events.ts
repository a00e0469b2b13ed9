import type { Money } from '../kernel/money.ts'
import type { JsonFields, Payable, Payment } from '../payments/payment.ts'
import type { PeriodNeeds } from '../subscriptions/period.ts'
import type {
  EndReason,
  Interval,
  ManagedBy,
  PauseReason,
  SubscriptionStatus,
} from '../subscriptions/subscription.ts'

/** A subscription as it stands when the listener runs. */
export interface SubscriptionSnapshot extends Money {
  readonly id: string
  readonly managedBy: ManagedBy
  readonly gateway: string
  /** The provider's id of it; null if we charge it. */
  readonly providerReference: string | null
  readonly status: SubscriptionStatus
  /** Whether this one gives access; another one of the same payable may all the same. */
  readonly access: boolean
  /** Whether any subscription of the payable gives access: what to set access by. */
  readonly payableAccess: boolean
  /** When it stood so, by the database's clock: of two events, the later one holds. */
  readonly asOf: Date
  /** The merchant's own object that is paid for. */
  readonly payable: Payable
  readonly plan: string | null
  readonly every: Interval
  /** The saved card that is charged; null: none. */
  readonly paymentMethodId: string | null
  readonly customer: Readonly<Record<string, unknown>> | null
  readonly metadata: Readonly<Record<string, unknown>> | null
  readonly trialEndsAt: Date | null
  readonly paidUntil: Date | null
  /** It ends then. */
  readonly cancelAt: Date | null
  readonly pauseAt: Date | null
  readonly resumeAt: Date | null
  readonly endedAt: Date | null
  /** As JSON, with names in snake_case. A copy (`{ ...subscription }`) is without it. */
  toJSON(): SubscriptionSnapshotJson
}

/** A subscription of an event in JSON. */
export type SubscriptionSnapshotJson = JsonFields<Omit<SubscriptionSnapshot, 'toJSON'>>

/** A period of a subscription: what was owed for which time. */
export interface Period extends Money {
  readonly id: string
  /** The first that is charged is 1. */
  readonly number: number
  readonly startsAt: Date
  /** Exclusive. */
  readonly endsAt: Date
  /** As JSON, with names in snake_case. A copy (`{ ...period }`) is without it. */
  toJSON(): PeriodJson
}

/** A period in JSON. */
export type PeriodJson = JsonFields<Omit<Period, 'toJSON'>>

export interface AboutSubscription {
  readonly subscription: SubscriptionSnapshot
}
export interface AboutPeriod extends AboutSubscription {
  readonly period: Period
}
export interface Renewed extends AboutPeriod {
  /** `incomplete` or `trialing` the first time; `past_due` if a charge of the period had failed. */
  readonly previousStatus: SubscriptionStatus
  /** As it stands when the listener runs; null: the period costs nothing. */
  readonly payment: Payment | null
  /** Whole periods that went by, unpaid and not charged, right before this one. */
  readonly skippedPeriods: number
}
export interface RenewalFailed extends AboutPeriod {
  /** As it stands when the listener runs; null: there was no card to charge. */
  readonly payment: Payment | null
  /** Attempts that have failed so far. */
  readonly attempt: number
  /** When the card is charged next; null: not again by itself. */
  readonly nextAttemptAt: Date | null
  readonly needs: PeriodNeeds
  /** Where the payer can pay the period; null: we do not know our own address. */
  readonly payUrl: string | null
}
export interface Cancelled extends AboutSubscription {
  readonly previousStatus: SubscriptionStatus
  readonly reason: EndReason
}
export interface Paused extends AboutSubscription {
  readonly reason: PauseReason
  readonly resumesAt: Date | null
}
export interface Notice extends AboutSubscription {
  /** Whether it goes on by itself afterwards. */
  readonly renews: boolean
  /** 1: the last notice before the end. */
  readonly notice: number
}
export interface TrialNotice extends Notice {
  readonly endsAt: Date
}
export interface TrialOver extends AboutSubscription {
  /** Whether it goes on, with its first charge. */
  readonly converts: boolean
}
export interface AboutQuota extends AboutSubscription {
  /** The name of the quota. */
  readonly quota: string
}
export interface QuotaReset extends AboutQuota {
  /** What may be used in the new window; null: no limit. */
  readonly limit: bigint | null
  /** In the window before, which is over. */
  readonly used: bigint
  /** The new window. */
  readonly windowStartsAt: Date
  readonly windowEndsAt: Date | null
}
export interface LimitReached extends AboutQuota {
  readonly limit: bigint
  /** In this window, by what reached it; `billing.usage.get` says how much it is by now. */
  readonly used: bigint
  /** Of the limit; one of the quota's `percents`. */
  readonly percent: number
}
