import type { EventSource } from '../events/catalogue.ts'
import type { DeliveryState } from '../events/event-record.ts'
import type { CallState } from '../events/webhook-call.ts'
import type { Money } from '../kernel/money.ts'
import type { DisputeStatus } from '../payments/dispute.ts'
import type { OutcomeResult } from '../payments/outcome.ts'
import type { Cause, PaymentStatus } from '../payments/payment.ts'
import type { ReviewState } from '../payments/review.ts'
import type { ActionVia } from '../wire/operator.ts'

/** What an entry is about, to show some of them alone. */
export type TimelineGroup = 'money' | 'callbacks' | 'listeners' | 'problems'

/** A change of the payment, or of a refund of it. */
export interface TimelineMove {
  readonly paymentId: string
  readonly isRefund: boolean
  readonly from: PaymentStatus
  readonly to: PaymentStatus
}

interface AnyEntry {
  /** When it happened; of what went on for a while, when it began. */
  readonly at: Date
  /** None: it is of interest only with all the others. */
  readonly groups: readonly TimelineGroup[]
}

/** The payment was made. */
interface Created extends AnyEntry, Money {
  readonly kind: 'created'
  readonly paymentId: string
}

/** What the payer's browser did: anybody with the link can. */
interface Browser extends AnyEntry {
  readonly kind: 'browser'
  readonly eventId: string
  readonly eventType: string
}

/** A callback, and what it changed. */
interface Call extends AnyEntry {
  readonly kind: 'call'
  readonly callId: string
  readonly gateway: string
  readonly state: CallState
  /** That failed. */
  readonly attempts: number
  /** Null: it has not ended yet. */
  readonly outcome: readonly OutcomeResult[] | null
  /** All that it says had been said before. */
  readonly isDuplicate: boolean
  readonly needsReview: boolean
  readonly moves: readonly TimelineMove[]
  /** From its receipt to its end; null: it has not ended yet. */
  readonly durationMs: number | null
}

/** A change that no call of this list has made; `callId`: a call that is gone, or not listed. */
interface Transition extends AnyEntry, TimelineMove {
  readonly kind: 'transition'
  readonly cause: Cause
  readonly callId: string | null
}

/** Something became known to listeners. */
interface Event extends AnyEntry {
  readonly kind: 'event'
  readonly eventId: string
  readonly eventType: string
  /** The payment, or the refund, that it is about. */
  readonly paymentId: string
  readonly source: EventSource
  readonly superseded: boolean
  readonly callId: string | null
}

/** An event that waits for its listeners, or has failed; by this id it will be an event. */
interface Deferred extends AnyEntry {
  readonly kind: 'deferred'
  readonly deliveryId: string
  readonly eventType: string | null
  readonly state: DeliveryState
  readonly attempts: number
  readonly nextAttemptAt: Date | null
}

/** To a queued listener: when it ended; if it has not, since when it waits. */
interface Delivery extends AnyEntry {
  readonly kind: 'delivery'
  readonly deliveryId: string
  readonly eventId: string
  readonly listener: string
  readonly state: DeliveryState
  /** That failed. */
  readonly attempts: number
  readonly nextAttemptAt: Date | null
  /** From its event to its end, waits included; null: it has not ended yet. */
  readonly durationMs: number | null
}

/** An attempt at a call, a delivery or a deferred event. */
interface FailedAttempt extends AnyEntry {
  readonly kind: 'failed_attempt'
  readonly callId: string | null
  readonly deliveryId: string | null
  /** Of a delivery: the event that it is of. */
  readonly eventId: string | null
  readonly attempt: number
  readonly listener: string | null
  /** The first line of what was thrown, cut at 200 characters. Foreign text. */
  readonly error: string
}

/** What the provider was asked; equal answers in a row are one. */
interface Asked extends AnyEntry {
  readonly kind: 'asked'
  readonly paymentId: string
  readonly operation: string
  readonly result: string
  /** Foreign text. */
  readonly detail: string | null
  readonly times: number
  /** Of the last one. */
  readonly durationMs: number
  readonly lastAt: Date
}

/** A refund was begun, or came to be known; how it stands. */
interface Refund extends AnyEntry, Money {
  readonly kind: 'refund'
  readonly refundId: string
  readonly status: PaymentStatus
  /** What the provider said to it. Foreign text. */
  readonly error: string | null
}

/** A payer's bank takes the payment back; how that stands. */
interface Dispute extends AnyEntry {
  readonly kind: 'dispute'
  readonly disputeId: string
  readonly reference: string
  readonly status: DisputeStatus
  /** Minor units; null if not stated. */
  readonly amount: bigint | null
  readonly currency: string | null
  readonly lastAt: Date
}

/** What a person must look at was found. */
interface Review extends AnyEntry {
  readonly kind: 'review'
  readonly reviewId: string
  readonly reason: string
  readonly detail: string | null
  readonly state: ReviewState
  readonly times: number
  readonly callId: string | null
  readonly lastAt: Date
}

/** A person has looked, or the service found that there is nothing left to look at. */
interface HandledReview extends AnyEntry {
  readonly kind: 'review_handled'
  readonly reviewId: string
  readonly reason: string
  readonly operator: string | null
  readonly note: string | null
}

/** What an operator did to the payment, or to a refund of it. */
interface Operator extends AnyEntry {
  readonly kind: 'operator'
  readonly actionId: string
  readonly operator: string
  readonly via: ActionVia
  readonly action: string
  readonly subject: string | null
  readonly outcome: string | null
  readonly detail: Readonly<Record<string, unknown>>
}

/** One thing that happened to a payment. */
export type TimelineEntry =
  | Created
  | Browser
  | Call
  | Transition
  | Event
  | Deferred
  | Delivery
  | FailedAttempt
  | Asked
  | Refund
  | Dispute
  | Review
  | HandledReview
  | Operator
