import { z } from 'zod'
import { disabledReasons } from '../events/endpoint.ts'
import type { EventPayloads, EventType } from '../events/catalogue.ts'
import type { SnakeCase } from '../kernel/field-names.ts'
import { periodNeeds } from '../subscriptions/period.ts'
import { endReasons, pauseReasons, subscriptionStatuses } from '../subscriptions/subscription.ts'
import { disputeSchema } from './dispute.ts'
import { amount, id, time } from './fields.ts'
import { invoiceSchema } from './invoice.ts'

import { paymentMethodSchema } from './payment-method.ts'
import { paymentSchema } from './payment.ts'
import { periodSchema, subscriptionSnapshotSchema } from './subscription-snapshot.ts'

const aboutPayment = { payment: paymentSchema }
const aboutPaymentMethod = { payment_method: paymentMethodSchema }
const aboutSubscription = { subscription: subscriptionSnapshotSchema }
const aboutPeriod = { ...aboutSubscription, period: periodSchema }
const status = z.enum(subscriptionStatuses)
const notice = { ...aboutSubscription, renews: z.boolean(), notice: z.int().min(1) }
const aboutQuota = { ...aboutSubscription, quota: z.string() }

/** The names of what an event carries, in JSON. */
type FieldsOf<T extends EventType> = {
  readonly [Field in keyof EventPayloads[T] & string as SnakeCase<Field>]: z.ZodType
}

/** What each type of event carries as JSON: its facts, and its subjects as they stand now. */
export const eventData = {
  PaymentSucceeded: aboutPayment,
  PaymentFailed: aboutPayment,
  PaymentCanceled: aboutPayment,
  PaymentRefunded: aboutPayment,
  PaymentMethodAttached: aboutPaymentMethod,
  PaymentMethodDetached: aboutPaymentMethod,
  SubscriptionCreated: aboutSubscription,
  SubscriptionRenewed: {
    ...aboutPeriod,
    previous_status: status,
    payment: paymentSchema.nullable(),
    skipped_periods: z.int().min(0),
  },
  SubscriptionPaymentFailed: {
    ...aboutPeriod,
    payment: paymentSchema.nullable(),
    attempt: z.int().min(0),
    next_attempt_at: time.nullable(),
    needs: z.enum(periodNeeds),
    pay_url: z.string().nullable(),
  },
  SubscriptionAccessSuspended: aboutPeriod,
  SubscriptionCancelled: {
    ...aboutSubscription,
    previous_status: status,
    reason: z.enum(endReasons),
  },
  SubscriptionPaused: {
    ...aboutSubscription,
    reason: z.enum(pauseReasons),
    resumes_at: time.nullable(),
  },
  SubscriptionResumed: aboutSubscription,
  TrialWillEnd: { ...notice, ends_at: time },
  TrialEnded: { ...aboutSubscription, converts: z.boolean() },
  SubscriptionPeriodEnding: { ...notice, period: periodSchema },
  SubscriptionQuotaReset: {
    ...aboutQuota,
    limit: amount.nullable(),
    used: amount,
    window_starts_at: time,
    window_ends_at: time.nullable(),
  },
  UsageLimitReached: { ...aboutQuota, limit: amount, used: amount, percent: z.int() },
  InvoiceIssued: { invoice: invoiceSchema },
  InvoicePaid: { invoice: invoiceSchema, payment: paymentSchema.nullable() },
  CheckoutReturned: aboutPayment,
  PaymentLinkOpened: aboutPayment,
  PaymentDisputed: { ...aboutPayment, dispute: disputeSchema },
  EndpointDisabled: {
    endpoint: z.strictObject({ id, name: z.string(), url: z.string() }),
    reason: z.enum(disabledReasons),
    disabled_at: time,
  },
} satisfies { readonly [T in EventType]: FieldsOf<T> }
