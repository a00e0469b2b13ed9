import type { Money } from '../kernel/money.ts'
import type { Payable } from '../payments/payment.ts'

export const subscriptionStatuses = [
  'incomplete',
  'trialing',
  'active',
  'past_due',
  'paused',
  'canceled',
] as const
/**
 * - `incomplete`: its first period has not been paid yet;
 * - `trialing`: in a trial, or its first period after one is being charged;
 * - `active`: paid; also while a renewal is late for reasons that are not the customer's;
 * - `past_due`: a renewal was declined, and is tried again;
 * - `paused`: nothing is charged until it is resumed;
 * - `canceled`: over, for ever.
 */
export type SubscriptionStatus = (typeof subscriptionStatuses)[number]

export const endReasons = [
  'requested',
  'payment_failed',
  'trial_ended',
  'incomplete',
  'provider',
] as const
/** Why a subscription is canceled. */
export type EndReason = (typeof endReasons)[number]

export const pauseReasons = ['requested', 'payment_failed'] as const
/** Why a subscription is paused: somebody wished it, or its renewal was never paid. */
export type PauseReason = (typeof pauseReasons)[number]

export const managers = ['local', 'provider'] as const
/** Who charges each period: we charge a saved card, or the provider does it on its own. */
export type ManagedBy = (typeof managers)[number]

export const intervalUnits = ['day', 'week', 'month', 'year'] as const
/** What lengths of periods are counted in. */
export type IntervalUnit = (typeof intervalUnits)[number]

/** How long a period is: every three months is `{ unit: 'month', count: 3 }`. */
export interface Interval {
  readonly unit: IntervalUnit
  /** 1 to 366. */
  readonly count: number
}

/** What a period costs and how long it is. */
export interface Terms extends Money {
  /** The name of the merchant's plan. Payers read it where there is no description. */
  readonly plan: string | null
  readonly every: Interval
}

/** A quota as a caller gives it; what is left out stays, or is as usual. */
export interface WantedQuota {
  readonly limit: bigint | null
  readonly every?: Interval | null | undefined
  readonly percents?: readonly number[] | undefined
}

/** Quotas by their names; null takes one away. */
export type WantedQuotas = Readonly<Record<string, WantedQuota | null>>

/** Terms that were changed: the periods before that number keep what they were opened with. */
export interface NextTerms extends Terms {
  readonly fromNumber: number
  /** The plan's quotas, given with its first granted period. Left out: the quotas stay as they are. */
  readonly quotas?: WantedQuotas
}

/** What a merchant sells, for as long as it is paid for each period. */
export interface Subscription extends Terms {
  readonly id: string
  readonly managedBy: ManagedBy
  readonly gateway: string
  /** The merchant's account at the provider, as on payments. */
  readonly merchantAccount: string | null
  /** Live money or the provider's test mode; null while unknown. */
  readonly live: boolean | null
  /** The provider's id of it, set once; null if we charge it. */
  readonly providerReference: string | null
  readonly status: SubscriptionStatus
  readonly payable: Payable
  readonly description: string | null
  readonly customer: Readonly<Record<string, unknown>> | null
  readonly metadata: Readonly<Record<string, unknown>> | null
  /** Other terms, taken over when their first period is granted; null: they stay. */
  readonly nextTerms: NextTerms | null
  /** Quotas of a plan that was taken over, which are given once its period is granted; null: none. */
  readonly dueQuotas: WantedQuotas | null
  /** An IANA name: periods begin at the same time of day there. */
  readonly timeZone: string
  /** All boundaries are counted from here, never from the boundary before; null before the first. */
  readonly anchorAt: Date | null
  /** The number of the period that begins at the anchor: the next one is opened by it. */
  readonly anchorNumber: number
  /** The saved card that is charged; null: none. */
  readonly paymentMethodId: string | null
  /** Whether access goes on while a declined renewal is tried again. */
  readonly graceAccess: boolean
  readonly trialEndsAt: Date | null
  /** The end of what is paid, or given without pay; it never goes back. */
  readonly paidUntil: Date | null
  /** It ends then. */
  readonly cancelAt: Date | null
  readonly pauseAt: Date | null
  readonly resumeAt: Date | null
  /** Since when a declined renewal cuts access; null: it does not. */
  readonly suspendedAt: Date | null
  readonly endedAt: Date | null
  readonly endReason: EndReason | null
  /** The number of its last event: they are dispatched in this order. */
  readonly eventNumber: number
  /** When something is to be done next; null: nothing, until something happens. */
  readonly nextActionAt: Date | null
  /** Why the last charge was not made, where that is not the customer's fault. */
  readonly actionError: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** One change of a subscription's status. */
export interface SubscriptionTransition {
  readonly id: string
  readonly subscriptionId: string
  /** Null: it was made. */
  readonly from: SubscriptionStatus | null
  readonly to: SubscriptionStatus
  /** What moved it: `created`, `paid`, `declined`, `requested`, `trial_ended` and so on. */
  readonly reason: string
  readonly periodId: string | null
  readonly at: Date
}
