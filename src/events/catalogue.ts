import type { PeriodNeeds } from '../subscriptions/period.ts'
import type { EndReason, PauseReason, SubscriptionStatus } from '../subscriptions/subscription.ts'
import type { Cause, Payment } from '../payments/payment.ts'
import type { Dispute } from '../payments/dispute.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import type { DisabledReason } from './endpoint.ts'
import type { InvoiceSnapshot } from './invoice-snapshot.ts'
import type { Period, SubscriptionSnapshot } from './subscription-snapshot.ts'

interface AboutPayment {
  /** The payment as it stands when the listener runs; its `payable` is the merchant's object. */
  readonly payment: Payment
}
interface AboutDispute extends AboutPayment {
  /** As it stands when the listener runs. */
  readonly dispute: Dispute
}
interface AboutPaymentMethod {
  readonly paymentMethod: PaymentMethod
}
interface AboutEndpoint {
  readonly endpoint: {
    readonly id: string
    readonly name: string
    /** Without its query, which may hold a token. */
    readonly url: string
  }
  readonly reason: DisabledReason
  readonly disabledAt: Date
}
interface AboutSubscription {
  readonly subscription: SubscriptionSnapshot
}
interface AboutPeriod extends AboutSubscription {
  readonly period: Period
}
interface Renewed extends AboutPeriod {
  /** `incomplete` or `trialing` the first time; `past_due` if a charge of the period had failed. */
  readonly previousStatus: SubscriptionStatus
  /** As it stands when the listener runs; null: the period costs nothing. */
  readonly payment: Payment | null
  /** Whole periods that went by, unpaid and not charged, right before this one. */
  readonly skippedPeriods: number
}
interface RenewalFailed extends AboutPeriod {
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
interface Cancelled extends AboutSubscription {
  readonly previousStatus: SubscriptionStatus
  readonly reason: EndReason
}
interface Paused extends AboutSubscription {
  readonly reason: PauseReason
  readonly resumesAt: Date | null
}
interface Notice extends AboutSubscription {
  /** Whether it goes on by itself afterwards. */
  readonly renews: boolean
  /** 1: the last notice before the end. */
  readonly notice: number
}
interface TrialNotice extends Notice {
  readonly endsAt: Date
}
interface TrialOver extends AboutSubscription {
  /** Whether it goes on, with its first charge. */
  readonly converts: boolean
}
interface AboutQuota extends AboutSubscription {
  /** The name of the quota. */
  readonly quota: string
}
interface QuotaReset extends AboutQuota {
  /** What may be used in the new window; null: no limit. */
  readonly limit: bigint | null
  /** In the window before, which is over. */
  readonly used: bigint
  /** The new window. */
  readonly windowStartsAt: Date
  readonly windowEndsAt: Date | null
}
interface LimitReached extends AboutQuota {
  readonly limit: bigint
  /** In this window, by what reached it; `billing.usage.get` says how much it is by now. */
  readonly used: bigint
  /** Of the limit; one of the quota's `percents`. */
  readonly percent: number
}
interface AboutInvoice {
  readonly invoice: InvoiceSnapshot
}
interface PaidInvoice extends AboutInvoice {
  /** As it stands when the listener runs; null: its provider has not said by what it was paid. */
  readonly payment: Payment | null
}
/**
 * What each type of event carries, in addition to what all have: `id`, `type`, `dedupKey` and so
 * on.
 */
export interface EventPayloads {
  /** A payment became paid. */
  PaymentSucceeded: AboutPayment
  /** A payment was refused. */
  PaymentFailed: AboutPayment
  /** A checkout expired or was voided, or reconciliation wrote it off. */
  PaymentCanceled: AboutPayment
  /** A refund was recorded: `payment` is the refund row. */
  PaymentRefunded: AboutPayment
  /** A card was saved. */
  PaymentMethodAttached: AboutPaymentMethod
  /** A card was removed. */
  PaymentMethodDetached: AboutPaymentMethod
  /** One begins in a trial, or is brought along; one that its provider manages, in any case. */
  SubscriptionCreated: AboutSubscription
  /** A period was granted: it is paid, or costs nothing. */
  SubscriptionRenewed: Renewed
  /** The charge of a period failed; it is tried again, or needs the payer. */
  SubscriptionPaymentFailed: RenewalFailed
  /** A failed charge ended access at once. */
  SubscriptionAccessSuspended: AboutPeriod
  /** A subscription is over. */
  SubscriptionCancelled: Cancelled
  /** A subscription was paused: nothing is charged until it is resumed. */
  SubscriptionPaused: Paused
  /** A paused subscription goes on. */
  SubscriptionResumed: AboutSubscription
  /** A trial ends soon. */
  TrialWillEnd: TrialNotice
  /** A trial is over. */
  TrialEnded: TrialOver
  /** A paid period ends soon. */
  SubscriptionPeriodEnding: Notice & AboutPeriod
  /** A new window of a quota has begun, with nothing used; not with its first one. */
  SubscriptionQuotaReset: QuotaReset
  /** So many per cent of a quota are used: once for each of its `percents` in a window. */
  UsageLimitReached: LimitReached
  /** A document was issued. */
  InvoiceIssued: AboutInvoice
  /** A document was paid. */
  InvoicePaid: PaidInvoice
  /** The browser came back from the checkout: for the page and analytics only. */
  CheckoutReturned: AboutPayment
  /** A payment link was opened: for the page and analytics only. */
  PaymentLinkOpened: AboutPayment
  /** A payer's bank takes a payment back, or has decided: once for each status of a dispute. */
  PaymentDisputed: AboutDispute
  /** Nothing is sent to an endpoint any more: it answered 410, or has failed for days. */
  EndpointDisabled: AboutEndpoint
}

/** The name of an event. */
export type EventType = keyof EventPayloads

/** What caused an event: what moved a payment or a subscription, or the payer's browser. */
export type EventSource = Cause | 'browser'

interface EventIdentity<T extends EventType> {
  readonly id: string
  readonly type: T
  /** `{type}:{status}:{reference}`: the outcome that this event reports, once. */
  readonly dedupKey: string
  /**
   * It was overtaken before it could be dispatched: the payment was declined, or its checkout
   * ended, and then it was paid. Only listeners that ask for such events get it.
   */
  readonly superseded: boolean
  readonly createdAt: Date
}

/** The event of this type, with what it carries; of several types, distinguished by its `type`. */
export type EventOf<T extends EventType> = {
  [One in T]: EventIdentity<One> & EventPayloads[One]
}[T]

/** Every event, distinguished by its `type`. */
export type BillingEvent = EventOf<EventType>

/** The types of the specification in its order, then those of our own. */
export const eventTypes = [
  'PaymentSucceeded',
  'PaymentFailed',
  'PaymentCanceled',
  'PaymentRefunded',
  'PaymentMethodAttached',
  'PaymentMethodDetached',
  'SubscriptionCreated',
  'SubscriptionRenewed',
  'SubscriptionPaymentFailed',
  'SubscriptionAccessSuspended',
  'SubscriptionCancelled',
  'SubscriptionPaused',
  'SubscriptionResumed',
  'TrialWillEnd',
  'TrialEnded',
  'SubscriptionPeriodEnding',
  'SubscriptionQuotaReset',
  'UsageLimitReached',
  'InvoiceIssued',
  'InvoicePaid',
  'CheckoutReturned',
  'PaymentLinkOpened',
  'PaymentDisputed',
  'EndpointDisabled',
] as const satisfies readonly EventType[]

/** Whether anybody with a link can cause it: it proves nothing. */
export function isUnverified(type: string): boolean {
  return type === 'CheckoutReturned' || type === 'PaymentLinkOpened'
}

/** Whether a text names an event. */
export function isEventType(given: unknown): given is EventType {
  return (eventTypes as readonly unknown[]).includes(given)
}
