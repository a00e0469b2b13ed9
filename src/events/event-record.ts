import * as field from '../kernel/noun.ts'
import { byId, listOf, orNull, type Values } from '../kernel/noun.ts'
import { causes } from '../payments/payment.ts'
import type { StoredData } from '../kernel/stored-fields.ts'

export const deliveryStates = ['pending', 'processing', 'processed', 'failed'] as const
/** Of what is due to a queued listener, or of a deferred event. */
export type DeliveryState = (typeof deliveryStates)[number]

/** What may cause an event. */
export const eventSources = [...causes, 'browser'] as const

export const deliveryFields = {
  listener: field.text(),
  state: field.choice(deliveryStates),
  attempts: field.count({ label: 'failed attempts' }),
  exception: orNull(field.text({ label: 'it threw' })),
}

/** The delivery of an event to one queued listener. */
export interface Delivery extends Values<typeof deliveryFields> {}

/** What an event and a deferred one have in common. */
export const headFields = {
  /** A deferred event keeps it when it is dispatched. */
  id: field.id('event'),
  dedupKey: field.text({ label: 'key' }),
  type: field.text(),
  /** The payment or refund that it is about. */
  paymentId: orNull(field.id('payment')),
  /** The saved card that it is about; `paymentId` is then the payment that it was saved with. */
  paymentMethodId: orNull(field.id('card')),
  subscriptionId: orNull(field.id('subscription')),
  /** The document that it is about. */
  invoiceId: orNull(field.id('invoice', { label: 'document' })),
  /** The call that led to what it says; null: something else did. */
  webhookCallId: orNull(field.id('call')),
}

export const eventFields = {
  ...headFields,
  source: field.choice(eventSources, { label: 'caused by' }),
  /** It was overtaken before it was dispatched: a decline, by a payment. */
  superseded: field.flag(),
  /** What it stores of itself; what it is about is read when it is dispatched. */
  data: field.object<StoredData>(),
  createdAt: field.time({ label: 'time' }),
  /** Its place in the feed; null: it has none yet, for a moment. */
  position: orNull(field.count()),
  /** Its delivery to each queued listener. */
  deliveries: listOf(field.part(deliveryFields), { label: 'listeners' }),
}

/** A dispatched event as stored: its row is the claim of its outcome. */
export interface EventRecord extends Values<typeof eventFields> {}

/** What narrows a list of events, besides their types. */
export const eventFilters = {
  /** Events of this payment and of its refunds. */
  paymentId: byId('payment', 'only of this payment and its refunds'),
  /** Events of this subscription. */
  subscriptionId: byId('subscription'),
}

export const deferredFields = {
  ...headFields,
  /** What caused the event. */
  source: field.choice(causes),
  /** What an event of a subscription stores of itself; null for any other. */
  data: orNull(field.object<StoredData>()),
  state: field.choice(['pending', 'processing', 'failed']),
  /** Attempts that have failed. */
  attempts: field.count({ label: 'failed attempts' }),
  /** When it is retried; null: no more. */
  nextAttemptAt: orNull(field.time()),
  /** What the listener threw; null if none has failed. */
  exception: orNull(field.text({ label: 'it threw' })),
  /** Since when it is deferred. */
  createdAt: field.time(),
}

/**
 * An event that waits to be dispatched: of a subscription or a document, by the next worker; of anything else
 * because a listener of it failed, or the process that would have dispatched it lacked one. A worker
 * tries it again; `failed`: after three attempts no more.
 */
export interface DeferredEvent extends Values<typeof deferredFields> {}
