import type { Dispute } from '../payments/dispute.ts'
import type { Cause, Payment } from '../payments/payment.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'

/** A provider-managed subscription, as far as its events show it. */
export interface SubscriptionSnapshot {
  readonly id: string
  readonly gateway: string
  readonly status: string
  readonly providerReference: string
}

/** A document of the merchant: its own number and where it can be read. */
export interface InvoiceSnapshot {
  readonly id: string
  readonly number: string
  readonly url: string | null
}

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
interface AboutSubscription {
  readonly subscription: SubscriptionSnapshot
}
interface AboutQuota extends AboutSubscription {
  readonly quota: string
}
interface AboutInvoice {
  readonly invoice: InvoiceSnapshot
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
  /** A provider-managed subscription was linked. Nothing fires it yet. */
  SubscriptionCreated: AboutSubscription
  /** A paid period was granted. Nothing fires it yet. */
  SubscriptionRenewed: AboutSubscription & { readonly previousStatus: string }
  /** A renewal failed and is retried, or it led to `past_due`. Nothing fires it yet. */
  SubscriptionPaymentFailed: AboutSubscription
  /** A failure cut access immediately. Nothing fires it yet. */
  SubscriptionAccessSuspended: AboutSubscription
  /** A subscription became `canceled`. Nothing fires it yet. */
  SubscriptionCancelled: AboutSubscription
  /** Paused, locally or by the provider. Nothing fires it yet. */
  SubscriptionPaused: AboutSubscription
  /** Resumed, locally or by the provider. Nothing fires it yet. */
  SubscriptionResumed: AboutSubscription
  /** Reminder before a trial ends. Nothing fires it yet. */
  TrialWillEnd: AboutSubscription
  /** A trial expired. Nothing fires it yet. */
  TrialEnded: AboutSubscription
  /** Advance notice before a paid period ends. Nothing fires it yet. */
  SubscriptionPeriodEnding: AboutSubscription
  /** A quota was reset. Nothing fires it yet. */
  SubscriptionQuotaReset: AboutQuota
  /** A usage limit was reached. Nothing fires it yet. */
  UsageLimitReached: AboutQuota
  /** A document was issued. Nothing fires it yet. */
  InvoiceIssued: AboutInvoice
  /** A document was paid. Nothing fires it yet. */
  InvoicePaid: AboutInvoice
  /** The browser came back from the checkout: for the page and analytics only. */
  CheckoutReturned: AboutPayment
  /** A payment link was opened: for the page and analytics only. */
  PaymentLinkOpened: AboutPayment
  /** A payer's bank takes a payment back, or has decided: once for each status of a dispute. */
  PaymentDisputed: AboutDispute
}

/** The name of an event. */
export type EventType = keyof EventPayloads

/** What caused an event: what moved a payment, or the payer's browser. */
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

/** The 22 types of the specification in its order, then those of our own. */
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
] as const satisfies readonly EventType[]

/** Types that nothing fires yet: their listeners are never called. */
export const eventTypesWithoutProducer = [
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
] as const satisfies readonly EventType[]

const neverFired: ReadonlySet<EventType> = new Set(eventTypesWithoutProducer)

/** An event that something fires: the others cannot be listened to yet. */
export type FiredEventType = Exclude<EventType, (typeof eventTypesWithoutProducer)[number]>

/** Every type that something fires: `billing.on(firedEventTypes, ...)` hears all there is. */
export const firedEventTypes = eventTypes.filter(
  (type): type is FiredEventType => !neverFired.has(type),
)

/** Whether a text names an event. */
export function isEventType(given: unknown): given is EventType {
  return (eventTypes as readonly unknown[]).includes(given)
}
