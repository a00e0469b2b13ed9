import { z } from 'zod'
import * as field from '../kernel/noun.ts'
import { viewOf } from '../kernel/noun.ts'
import type { DeferredEvent, EventRecord } from '../events/event-record.ts'
import type { Dispute } from '../payments/dispute.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import { transitionFields, type Payment, type PaymentTransition } from '../payments/payment.ts'
import { activityFields, type PaymentActivity } from '../payments/activity.ts'
import type { Review } from '../payments/review.ts'
import { periodFields, type SubscriptionPeriod } from '../subscriptions/period.ts'
import { disputeSchema, disputeView } from './dispute.ts'
import {
  deferredEventSchema,
  deferredEventView,
  recordedEventSchema,
  recordedEventView,
} from './event.ts'
import { listedPaymentSchema, listedPaymentView, type ListedPayment } from './listed-payment.ts'
import { schemaOf } from './noun.ts'
import { paymentMethodSchema, paymentMethodView } from './payment-method.ts'
import { paymentSchema, paymentView } from './payment.ts'
import { reviewSchema, reviewView } from './review.ts'

/** One change of a payment. */
export const paymentTransitionSchema = schemaOf(transitionFields)
const transitionView = viewOf(transitionFields)

/** What the provider was asked; equal answers in a row are one, with how often. */
export const paymentActivitySchema = schemaOf(activityFields)
const activityView = viewOf(activityFields)

const { id, number, startsAt, endsAt } = periodFields
const paidPeriodFields = { id, number, subscriptionId: field.id('subscription'), startsAt, endsAt }

/** The period that a payment pays. */
export const paidPeriodSchema = schemaOf(paidPeriodFields)
const paidPeriodView = viewOf(paidPeriodFields)

export const paymentDetailsSchema = listedPaymentSchema.extend({
  period: paidPeriodSchema.nullable(),
  transitions: z.array(paymentTransitionSchema),
  events: z.array(recordedEventSchema),
  deferred_events: z.array(deferredEventSchema),
  refunds: z.array(paymentSchema),
  disputes: z.array(disputeSchema),
  payment_methods: z.array(paymentMethodSchema),
  reviews: z.array(reviewSchema),
  activity: z.array(paymentActivitySchema),
})

/** The same in JSON. */
export type PaymentDetailsJson = z.output<typeof paymentDetailsSchema>

/**
 * A payment with its whole history, each list oldest first.
 * @see {@link PaymentDetailsJson}, which it is in JSON and as a prop of a React client component.
 */
export interface PaymentDetails extends ListedPayment {
  /** The period of a subscription that it pays; null: none. */
  readonly period: SubscriptionPeriod | null
  readonly transitions: readonly PaymentTransition[]
  readonly events: readonly EventRecord[]
  /**
   * Events, including those of its refunds, that wait for a retry of their listeners, or have
   * failed.
   */
  readonly deferredEvents: readonly DeferredEvent[]
  readonly refunds: readonly Payment[]
  readonly disputes: readonly Dispute[]
  /** The cards that were saved with this payment. */
  readonly paymentMethods: readonly PaymentMethod[]
  /** What a person must look at, or has. */
  readonly reviews: readonly Review[]
  /** What its provider was asked, besides charges of saved cards that were answered. */
  readonly activity: readonly PaymentActivity[]
  toJSON(): PaymentDetailsJson
}

export function paymentDetailsView(payment: PaymentDetails): PaymentDetailsJson {
  return {
    ...listedPaymentView(payment),
    period: payment.period && paidPeriodView(payment.period),
    transitions: payment.transitions.map(transitionView),
    events: payment.events.map(recordedEventView),
    deferred_events: payment.deferredEvents.map(deferredEventView),
    refunds: payment.refunds.map(paymentView),
    disputes: payment.disputes.map(disputeView),
    payment_methods: payment.paymentMethods.map(paymentMethodView),
    reviews: payment.reviews.map(reviewView),
    activity: payment.activity.map(activityView),
  }
}
