import type { Money } from '../kernel/money.ts'
import type { JsonFields, Payable } from '../payments/payment.ts'
import type { Interval, ManagedBy, SubscriptionStatus } from '../subscriptions/subscription.ts'

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
