import { z } from 'zod'
import type { DeferredEvent, EventRecord } from '../events/event-record.ts'
import { viewOf, type Noun } from '../kernel/noun.ts'
import type { Payment } from '../payments/payment.ts'
import { periodFields, type SubscriptionPeriod } from '../subscriptions/period.ts'
import { transitionFields, type SubscriptionTransition } from '../subscriptions/subscription.ts'
import {
  deferredEventSchema,
  deferredEventView,
  recordedEventSchema,
  recordedEventView,
} from './event.ts'
import { schemaOf } from './noun.ts'
import { paymentSchema, paymentView } from './payment.ts'
import { subscriptionSchema, subscriptionView, type ListedSubscription } from './subscription.ts'

/** What was owed for which time, and what became of it. */
export const periodSchema = schemaOf(periodFields)
const periodView = viewOf(periodFields)

export const periodNoun: Noun<SubscriptionPeriod> = {
  plural: 'periods',
  facts: periodFields,
  filters: {},
  columns: [
    'number',
    'state',
    'startsAt',
    'endsAt',
    'amount',
    'declines',
    'nextAttemptAt',
    'paidPaymentId',
  ],
  view: periodView,
}

/** One change of a subscription. */
export const subscriptionTransitionSchema = schemaOf(transitionFields)
const transitionView = viewOf(transitionFields)

export const subscriptionDetailsSchema = subscriptionSchema.extend({
  pay_url: z.string(),
  current_period: periodSchema.nullable(),
  open_period: periodSchema.nullable(),
  periods: z.array(periodSchema),
  transitions: z.array(subscriptionTransitionSchema),
  payments: z.array(paymentSchema),
  events: z.array(recordedEventSchema),
  deferred_events: z.array(deferredEventSchema),
})

/** The same in JSON. */
export type SubscriptionDetailsJson = z.output<typeof subscriptionDetailsSchema>

/**
 * A subscription with its history, each list oldest first; of long ones the last hundred.
 * @see {@link SubscriptionDetailsJson}, which it is in JSON and as a prop of a React client component.
 */
export interface SubscriptionDetails extends ListedSubscription {
  /** The page on which the customer pays what is owed, or puts in another card. */
  readonly payUrl: string
  /** The granted period with the latest start. */
  readonly currentPeriod: SubscriptionPeriod | null
  /** The period that waits for its money. */
  readonly openPeriod: SubscriptionPeriod | null
  /** `unusedAmount` reads them. */
  readonly periods: readonly SubscriptionPeriod[]
  readonly transitions: readonly SubscriptionTransition[]
  /** Every attempt to pay one of these periods. */
  readonly payments: readonly Payment[]
  readonly events: readonly EventRecord[]
  /** Events that wait for their turn, or for a retry of their listeners, or have failed. */
  readonly deferredEvents: readonly DeferredEvent[]
  toJSON(): SubscriptionDetailsJson
}

export function subscriptionDetailsView(details: SubscriptionDetails): SubscriptionDetailsJson {
  return {
    ...subscriptionView(details),
    pay_url: details.payUrl,
    current_period: details.currentPeriod && periodView(details.currentPeriod),
    open_period: details.openPeriod && periodView(details.openPeriod),
    periods: details.periods.map(periodView),
    transitions: details.transitions.map(transitionView),
    payments: details.payments.map(paymentView),
    events: details.events.map(recordedEventView),
    deferred_events: details.deferredEvents.map(deferredEventView),
  }
}
