import type { Money } from '../kernel/money.ts'
import * as field from '../kernel/noun.ts'
import { byChoice, byGateway, byPayable, orNull } from '../kernel/noun.ts'
import type { JsonValues, Values } from '../kernel/noun.ts'

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

export const intervalFields = {
  unit: field.choice(intervalUnits),
  /** 1 to 366. */
  count: field.count(),
}

/** How long a period is: every three months is `{ unit: 'month', count: 3 }`. */
export interface Interval extends Values<typeof intervalFields> {}

export const termsFields = {
  /** The name of the merchant's plan. Payers read it where there is no description. */
  plan: orNull(field.text()),
  amount: field.minorUnits(),
  currency: field.text(),
  every: field.part(intervalFields),
}

/** What a period costs and how long it is. */
export interface Terms extends Money, Values<typeof termsFields> {}

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

/** What the events of a subscription have of it, too. */
export const carriedFields = {
  id: field.id('subscription'),
  managedBy: field.choice(managers),
  gateway: field.text({ of: 'gateway' }),
  /** The provider's id of it, set once; null if we charge it. */
  providerReference: orNull(field.text({ label: 'provider id' })),
  status: field.choice(subscriptionStatuses),
  /** The merchant's own object that is paid for. */
  payable: { ...field.payable(), label: 'for' },
  ...termsFields,
  /** The saved card that is charged; null: none. */
  paymentMethodId: orNull(field.id('card')),
  customer: orNull(field.object()),
  metadata: orNull(field.object()),
  trialEndsAt: orNull(field.time()),
  /** The end of what is paid, or given without pay; it never goes back. */
  paidUntil: orNull(field.time()),
  /** It ends then. */
  cancelAt: orNull(field.time({ label: 'ends' })),
  pauseAt: orNull(field.time({ label: 'pauses' })),
  resumeAt: orNull(field.time({ label: 'resumes' })),
  endedAt: orNull(field.time()),
}

/** What JSON has of it. */
export const subscriptionFields = {
  ...carriedFields,
  /** The merchant's account at the provider, as on payments. */
  merchantAccount: orNull(field.text({ label: 'account' })),
  /** Live money or the provider's test mode; null while unknown. */
  live: field.mode(),
  description: orNull(field.text()),
  /** Other terms, taken over when their first period is granted; null: they stay. */
  nextTerms: orNull<NextTerms, JsonValues<typeof termsFields>>(
    field.part(termsFields, { label: 'then' }),
  ),
  /** An IANA name: periods begin at the same time of day there. */
  timeZone: field.text({ label: 'counted in' }),
  /** Whether access goes on while a declined renewal is tried again. */
  graceAccess: field.flag(),
  /** Since when a declined renewal cuts access; null: it does not. */
  suspendedAt: orNull(field.time()),
  endReason: orNull(field.choice(endReasons, { label: 'why it ended' })),
  /** When something is to be done next; null: nothing, until something happens. */
  nextActionAt: orNull(field.time()),
  /** Why the last charge was not made, where that is not the customer's fault. */
  actionError: orNull(field.text({ label: 'error' })),
  createdAt: field.time(),
  updatedAt: field.time(),
}

/** What a merchant sells, for as long as it is paid for each period. */
export interface Subscription extends Money, Values<typeof subscriptionFields> {
  /** Quotas of a plan that was taken over, which are given once its period is granted; null: none. */
  readonly dueQuotas: WantedQuotas | null
  /** All boundaries are counted from here, never from the boundary before; null before the first. */
  readonly anchorAt: Date | null
  /** The number of the period that begins at the anchor: the next one is opened by it. */
  readonly anchorNumber: number
  /** The number of its last event: they are dispatched in this order. */
  readonly eventNumber: number
}

/** What narrows a list of subscriptions. */
export const subscriptionFilters = {
  gateway: byGateway,
  status: byChoice(subscriptionStatuses),
  /** Who charges it. */
  managedBy: { ...byChoice(managers, 'only those that it charges'), placeholder: 'who' },
  payable: byPayable('only of this object, e.g. account:7'),
}

export const transitionFields = {
  /** Null: it was made. */
  from: orNull(field.choice(subscriptionStatuses)),
  to: field.choice(subscriptionStatuses),
  /** What moved it: `created`, `paid`, `declined`, `requested`, `trial_ended` and so on. */
  reason: field.text(),
  periodId: orNull(field.id('period')),
  at: field.time(),
}

/** One change of a subscription's status. */
export interface SubscriptionTransition extends Values<typeof transitionFields> {
  readonly id: string
  readonly subscriptionId: string
}
