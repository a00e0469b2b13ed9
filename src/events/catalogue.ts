import {
  filledKey,
  orNone,
  subject,
  type EventShape,
  type Following,
  type NamesIn,
  type Subject,
} from '../kernel/event-shape.ts'
import * as field from '../kernel/noun.ts'
import type { Payment, PaymentStatus } from '../payments/payment.ts'
import type { Dispute } from '../payments/dispute.ts'
import type { PaymentMethod, PaymentMethodStatus } from '../payments/payment-method.ts'
import { subscriptionEvents } from '../subscriptions/events.ts'
import { disabledReasons } from './endpoint.ts'
import type { eventSources } from './event-record.ts'
import type { InvoiceSnapshot } from './invoice-snapshot.ts'
import type { Period, SubscriptionSnapshot } from './subscription-snapshot.ts'

/** What the code knows of a type of event. What it is about is what it carries first. */
export interface CatalogueRow extends EventShape {
  /** What leads to it; what a browser did, anybody with a link can cause. */
  readonly firedBy: 'an outcome' | 'a subscription' | 'a document' | 'a browser' | 'an endpoint'
  /** The status of its payment or card that the event reports. Left out: the event holds at any status. */
  readonly says?: PaymentStatus | PaymentMethodStatus
}

const ofPayment = {
  /** The payment as it stands when the listener runs; its `payable` is the merchant's object. */
  payment: subject,
} as const
const ofPaymentMethod = { paymentMethod: subject } as const
const ofInvoice = { invoice: subject } as const

type Rows = Readonly<Record<string, CatalogueRow>>

export const paymentEvents = {
  /** A payment became paid. */
  PaymentSucceeded: {
    carries: ofPayment,
    key: 'payment:paid:<payment>',
    firedBy: 'an outcome',
    says: 'paid',
  },
  /** A payment was refused; it can still be paid. */
  PaymentFailed: {
    carries: ofPayment,
    key: 'payment:failed:<payment>',
    firedBy: 'an outcome',
    says: 'failed',
  },
  /** A checkout ended, was canceled, or was written off; it can still be paid. */
  PaymentCanceled: {
    carries: ofPayment,
    key: 'payment:canceled:<payment>',
    firedBy: 'an outcome',
    says: 'canceled',
  },
  /** Money went back; `payment` is the refund. */
  PaymentRefunded: {
    carries: ofPayment,
    key: 'refund:paid:<refund>',
    firedBy: 'an outcome',
    says: 'paid',
  },
  /** A card was saved. */
  PaymentMethodAttached: {
    carries: ofPaymentMethod,
    key: 'payment_method:attached:<gateway>/<card>',
    firedBy: 'an outcome',
    says: 'attached',
  },
  /** A saved card was removed. */
  PaymentMethodDetached: {
    carries: ofPaymentMethod,
    key: 'payment_method:detached:<gateway>/<card>',
    firedBy: 'an outcome',
    says: 'detached',
  },
} as const satisfies Rows

export const otherEvents = {
  /** A document was issued. */
  InvoiceIssued: { carries: ofInvoice, key: 'invoice:issued:<invoice>', firedBy: 'a document' },
  /** A document was paid. */
  InvoicePaid: {
    carries: {
      ...ofInvoice,
      /** As it stands when the listener runs; null: its provider has not said by what it was paid. */
      payment: orNone(subject),
    },
    key: 'invoice:paid:<invoice>',
    firedBy: 'a document',
  },
  /** The browser came back from the checkout, the first time: for the page and analytics only. */
  CheckoutReturned: {
    carries: ofPayment,
    key: 'checkout:returned:<payment>',
    firedBy: 'a browser',
  },
  /** A payment link was opened, the first time: for the page and analytics only. */
  PaymentLinkOpened: {
    carries: ofPayment,
    key: 'payment_link:opened:<payment>',
    firedBy: 'a browser',
  },
  /** A payer's bank takes a payment back, or has decided: once for each status of a dispute. */
  PaymentDisputed: {
    carries: {
      ...ofPayment,
      /** As it stands when the listener runs. */
      dispute: subject,
    },
    key: 'dispute:<status>:<dispute>',
    firedBy: 'an outcome',
  },
  /** Nothing is sent to an endpoint any more: it answered 410, or has failed for days. */
  EndpointDisabled: {
    carries: {
      endpoint: field.part({
        id: field.id('endpoint'),
        name: field.text(),
        /** Without its query, which may hold a token. */
        url: field.text(),
      }),
      reason: field.choice(disabledReasons),
      disabledAt: field.time(),
    },
    key: 'endpoint:disabled:<endpoint>/<time it was disabled>',
    firedBy: 'an endpoint',
  },
} as const satisfies Rows

/** An intersection, because the type of a spread loses the doc comments of rows in another file. */
type Catalogue = typeof paymentEvents & typeof subscriptionEvents & typeof otherEvents

/**
 * Every type of event: what it carries, its key and what fires it. The types, what is stored and sent,
 * and the tables of the documentation follow. The types of the specification come first, in its order.
 */
export const catalogue: Catalogue = { ...paymentEvents, ...subscriptionEvents, ...otherEvents }

/** The name of an event. */
export type EventType = keyof Catalogue

/** What events may be about, by the name of the field. */
export interface Subjects {
  readonly payment: Payment
  readonly paymentMethod: PaymentMethod
  readonly dispute: Dispute
  readonly subscription: SubscriptionSnapshot
  readonly period: Period
  readonly invoice: InvoiceSnapshot
}

type CarriedValue<Name, Of> =
  Of extends Subject<boolean, infer Nullable>
    ? Subjects[Name & keyof Subjects] | (Nullable extends true ? null : never)
    : Of extends field.Field<infer Value, infer _> | Following<infer Value, infer _>
      ? Value
      : never

/**
 * What each type of event carries, in addition to what all have: `id`, `type`, `dedupKey` and so
 * on.
 */
export type EventPayloads = {
  -readonly [Type in keyof Catalogue]: {
    readonly [Name in keyof Catalogue[Type]['carries']]: CarriedValue<
      Name,
      Catalogue[Type]['carries'][Name]
    >
  }
}

/** What caused an event: what moved a payment or a subscription, or the payer's browser. */
export type EventSource = (typeof eventSources)[number]

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
export const eventTypes = Object.keys(catalogue) as unknown as readonly [EventType, ...EventType[]]

/** Whether a text names an event. */
export function isEventType(given: unknown): given is EventType {
  return typeof given === 'string' && Object.hasOwn(catalogue, given)
}

/** Undefined for a type of a newer version. */
export function catalogueRow(type: string): CatalogueRow | undefined {
  return isEventType(type) ? catalogue[type] : undefined
}

/** Whether anybody with a link can cause it: it proves nothing. */
export function isUnverified(type: string): boolean {
  return catalogueRow(type)?.firedBy === 'a browser'
}

/** The types that carry something of this name. */
export type TypesWith<Name extends string> = {
  [Type in EventType]: Name extends keyof Catalogue[Type]['carries'] ? Type : never
}[EventType]

/** The types that this fires. */
export type TypesFiredBy<Producer extends CatalogueRow['firedBy']> = {
  [Type in EventType]: Catalogue[Type]['firedBy'] extends Producer ? Type : never
}[EventType]

/** The dedup key of an event: what stands in place of the names of its row. */
export function dedupKey<Type extends EventType>(
  type: Type,
  names: Readonly<Record<NamesIn<Catalogue[Type]['key']>, string>>,
): string {
  return filledKey(catalogue[type].key, names)
}
