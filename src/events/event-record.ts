import type { Cause } from '../payments/payment.ts'
import type { EventSource } from './catalogue.ts'
import type { StoredData } from './event-data.ts'

export const deliveryStates = ['pending', 'processing', 'processed', 'failed'] as const
/** Of what is due to a queued listener, or of a deferred event. */
export type DeliveryState = (typeof deliveryStates)[number]

/** A dispatched event as stored: its row is the claim of its outcome. */
export interface EventRecord {
  readonly id: string
  readonly dedupKey: string
  readonly type: string
  readonly paymentId: string | null
  /** The saved card that it is about; `paymentId` is then the payment that it was saved with. */
  readonly paymentMethodId: string | null
  readonly subscriptionId: string | null
  /** The document that it is about. */
  readonly invoiceId: string | null
  readonly webhookCallId: string | null
  readonly source: EventSource
  /** It was overtaken before it was dispatched: a decline, by a payment. */
  readonly superseded: boolean
  /** What it stores of itself; what it is about is read when it is dispatched. */
  readonly data: StoredData
  readonly createdAt: Date
  /** Its place in the feed; null: it has none yet, for a moment. */
  readonly position: number | null
  /** Its delivery to each queued listener. */
  readonly deliveries: readonly Delivery[]
}

/** The delivery of an event to one queued listener. */
export interface Delivery {
  readonly listener: string
  readonly state: DeliveryState
  readonly attempts: number
  readonly exception: string | null
}

/**
 * An event that waits to be dispatched: of a subscription or a document, by the next worker; of anything else
 * because a listener of it failed, or the process that would have dispatched it lacked one. A worker
 * tries it again; `failed`: after three attempts no more.
 */
export interface DeferredEvent {
  /** The id that the event will have. */
  readonly id: string
  readonly dedupKey: string
  readonly type: string
  /** The payment or refund that it is about. */
  readonly paymentId: string | null
  /** The saved card that it is about; `paymentId` is then the payment that it was saved with. */
  readonly paymentMethodId: string | null
  readonly subscriptionId: string | null
  /** The document that it is about. */
  readonly invoiceId: string | null
  /** What an event of a subscription stores of itself; null for any other. */
  readonly data: StoredData | null
  /** The call that led to what the event says; null: something else did. */
  readonly webhookCallId: string | null
  /** What caused the event. */
  readonly source: Cause
  readonly state: Exclude<DeliveryState, 'processed'>
  /** Attempts that have failed. */
  readonly attempts: number
  /** When it is retried; null: no more. */
  readonly nextAttemptAt: Date | null
  /** What the listener threw; null if none has failed. */
  readonly exception: string | null
  /** Since when it is deferred. */
  readonly createdAt: Date
}
