import { z } from 'zod'
import { usageRecord } from '../../src/http/api/bodies.ts'
import { routes } from '../../src/http/api/management-api.ts'
import { callDetailsSchema, callSchema } from '../../src/wire/call.ts'
import { disputeSchema } from '../../src/wire/dispute.ts'
import {
  createdEndpointSchema,
  endpointSchema,
  endpointTestSchema,
  forwardAttemptSchema,
  forwardSchema,
} from '../../src/wire/endpoint.ts'
import {
  deferredEventSchema,
  deliverySchema,
  eventSchema,
  recordedEventSchema,
} from '../../src/wire/event.ts'
import { foundSchema } from '../../src/wire/found.ts'
import { gatewaySchema } from '../../src/wire/gateway.ts'
import { invoiceSchema } from '../../src/wire/invoice.ts'
import { listedPaymentSchema } from '../../src/wire/listed-payment.ts'
import { outcomeResultSchema } from '../../src/wire/outcome-result.ts'
import {
  paidPeriodSchema,
  paymentDetailsSchema,
  paymentTransitionSchema,
} from '../../src/wire/payment-details.ts'
import { paymentMethodSchema } from '../../src/wire/payment-method.ts'
import { paymentSchema } from '../../src/wire/payment.ts'
import { pollSchema } from '../../src/wire/poll.ts'
import { reviewSchema } from '../../src/wire/review.ts'
import { runSchema } from '../../src/wire/run.ts'
import * as details from '../../src/wire/subscription-details.ts'
import { periodSchema, subscriptionSnapshotSchema } from '../../src/wire/subscription-snapshot.ts'
import {
  createdSubscriptionSchema,
  intervalSchema,
  subscriptionSchema,
  termsSchema,
} from '../../src/wire/subscription.ts'
import { quotaUsageSchema, usageResultSchema } from '../../src/wire/usage.ts'

/** A part of the document with a name of its own. */
export interface Component {
  readonly schema: z.ZodType
  /** The types whose doc comments say what it is and what its fields are, `file#Name`; the first wins. */
  readonly from: readonly string[]
}

const money = 'kernel/money.ts#Money'
const payment = ['payments/payment.ts#Payment', 'payments/payment.ts#paymentFields', money]
const listed = [
  'wire/listed-payment.ts#ListedPayment',
  'wire/listed-payment.ts#refundSumFields',
  ...payment,
]
const terms = [
  'subscriptions/subscription.ts#Terms',
  'subscriptions/subscription.ts#termsFields',
  money,
]
const carried = ['subscriptions/subscription.ts#carriedFields', ...terms]
const subscription = [
  'wire/subscription.ts#ListedSubscription',
  'wire/subscription.ts#standingFields',
  'subscriptions/subscription.ts#subscriptionFields',
  ...carried,
]
const period = [
  'subscriptions/period.ts#SubscriptionPeriod',
  'subscriptions/period.ts#periodFields',
  'subscriptions/period.ts#carriedFields',
  money,
]

const call = ['events/webhook-call.ts#WebhookCall', 'events/webhook-call.ts#callFields']

const event = [
  'events/event-record.ts#EventRecord',
  'events/event-record.ts#eventFields',
  'events/event-record.ts#headFields',
]

const endpoint = ['events/endpoint.ts#Endpoint', 'events/endpoint.ts#endpointFields']
const attempt = ['events/endpoint.ts#attemptFields', 'events/endpoint.ts#answerFields']

/** What answers are made of. */
const answered: Readonly<Record<string, Component>> = {
  Payment: { schema: paymentSchema, from: payment },
  ListedPayment: { schema: listedPaymentSchema, from: listed },
  PaymentDetails: {
    schema: paymentDetailsSchema,
    from: ['wire/payment-details.ts#PaymentDetails', ...listed],
  },
  PaymentTransition: {
    schema: paymentTransitionSchema,
    from: ['payments/payment.ts#PaymentTransition', 'payments/payment.ts#transitionFields'],
  },
  PaidPeriod: { schema: paidPeriodSchema, from: period },
  Dispute: {
    schema: disputeSchema,
    from: ['payments/dispute.ts#Dispute', 'payments/dispute.ts#disputeFields'],
  },
  PaymentMethod: {
    schema: paymentMethodSchema,
    from: [
      'payments/payment-method.ts#PaymentMethod',
      'payments/payment-method.ts#paymentMethodFields',
      'payments/payment-method.ts#paymentMethodDetailFields',
    ],
  },
  Poll: { schema: pollSchema, from: ['money/poll-payment.ts#PollResult'] },
  OutcomeResult: { schema: outcomeResultSchema, from: ['payments/outcome.ts#OutcomeResult'] },
  Subscription: { schema: subscriptionSchema, from: subscription },
  SubscriptionDetails: {
    schema: details.subscriptionDetailsSchema,
    from: ['wire/subscription-details.ts#SubscriptionDetails', ...subscription],
  },
  SubscriptionTransition: {
    schema: details.subscriptionTransitionSchema,
    from: [
      'subscriptions/subscription.ts#SubscriptionTransition',
      'subscriptions/subscription.ts#transitionFields',
    ],
  },
  SubscriptionPeriod: {
    schema: details.periodSchema,
    from: period,
  },
  CreatedSubscription: {
    schema: createdSubscriptionSchema,
    from: ['wire/subscription.ts#CreatedSubscription'],
  },
  Terms: { schema: termsSchema, from: terms },
  Interval: {
    schema: intervalSchema,
    from: [
      'subscriptions/subscription.ts#Interval',
      'subscriptions/subscription.ts#intervalFields',
    ],
  },
  SubscriptionSnapshot: {
    schema: subscriptionSnapshotSchema,
    from: [
      'events/subscription-snapshot.ts#SubscriptionSnapshot',
      'events/subscription-snapshot.ts#snapshotFields',
      ...carried,
    ],
  },
  Period: { schema: periodSchema, from: ['events/subscription-snapshot.ts#Period', ...period] },
  Invoice: {
    schema: invoiceSchema,
    from: ['invoices/invoice.ts#Invoice', 'invoices/invoice.ts#invoiceFields'],
  },
  QuotaUsage: {
    schema: quotaUsageSchema,
    from: [
      'wire/usage.ts#QuotaUsage',
      'wire/usage.ts#quotaUsageFields',
      'subscriptions/quota.ts#quotaTermsFields',
      'subscriptions/judge-usage.ts#standingFields',
    ],
  },
  UsageResult: { schema: usageResultSchema, from: ['subscriptions/judge-usage.ts#UsageResult'] },
  WebhookCall: { schema: callSchema, from: call },
  WebhookCallDetails: {
    schema: callDetailsSchema,
    from: ['events/webhook-call.ts#CallDetails', ...call, 'events/webhook-call.ts#storedFields'],
  },
  Review: {
    schema: reviewSchema,
    from: [
      'payments/review.ts#Review',
      'payments/review.ts#reviewFields',
      'payments/review.ts#ReviewJson',
    ],
  },
  Run: { schema: runSchema, from: ['wire/run.ts#Run', 'wire/run.ts#runFields'] },
  Event: { schema: eventSchema, from: event },
  RecordedEvent: { schema: recordedEventSchema, from: event },
  DeferredEvent: {
    schema: deferredEventSchema,
    from: [
      'events/event-record.ts#DeferredEvent',
      'events/event-record.ts#deferredFields',
      'events/event-record.ts#headFields',
    ],
  },
  Delivery: { schema: deliverySchema, from: ['events/event-record.ts#Delivery'] },
  Endpoint: { schema: endpointSchema, from: endpoint },
  CreatedEndpoint: {
    schema: createdEndpointSchema,
    from: ['billing/endpoint-types.ts#CreatedEndpoint', ...endpoint],
  },
  Forward: {
    schema: forwardSchema,
    from: ['events/endpoint.ts#Forward', 'events/endpoint.ts#forwardFields'],
  },
  ForwardAttempt: {
    schema: forwardAttemptSchema,
    from: ['events/endpoint.ts#ForwardAttempt', ...attempt],
  },
  EndpointTest: {
    schema: endpointTestSchema,
    from: ['outbound/send.ts#Sent', ...attempt],
  },
  Found: {
    schema: foundSchema,
    from: ['wire/found.ts#Found'],
  },
  Gateway: {
    schema: gatewaySchema,
    from: ['wire/gateway.ts#GatewayDescription', 'wire/gateway.ts#gatewayFields'],
  },
}

/** What the fields of each body are; a body has the name of its route. */
const sent: Readonly<Record<string, readonly string[]>> = {
  CreatePayment: ['checkout/payment-input.ts#CreatePaymentInput', money],
  RefundPayment: ['money/refund-input.ts#CreateRefundInput'],
  CreateSubscription: ['money/subscription-input.ts#CreateSubscriptionInput', money],
  CancelSubscription: ['money/subscription-input.ts#CancelSubscriptionInput'],
  PauseSubscription: [
    'money/subscription-input.ts#PauseSubscriptionInput',
    'money/subscription-input.ts#CancelSubscriptionInput',
  ],
  ChangeSubscription: ['money/subscription-input.ts#ChangeSubscriptionInput', money],
  PaySubscription: ['money/subscription-input.ts#PaySubscriptionInput'],
  IssueInvoice: ['money/invoice-input.ts#IssueInvoiceInput'],
  CreateEndpoint: ['outbound/endpoint-input.ts#CreateEndpointInput'],
  UpdateEndpoint: ['outbound/endpoint-input.ts#CreateEndpointInput'],
  EnableEndpoint: ['billing/endpoint-types.ts#EnableEndpointInput'],
  ReplayEndpoint: ['billing/endpoint-types.ts#ReplayInput'],
  StartRun: ['billing/run-input.ts#StartRunInput'],
  HandleReview: ['billing/review-input.ts#HandleReviewInput'],
}

/** What fields of these names are wherever no comment says more. */
export const everywhere: Readonly<Record<string, string>> = {
  gateway: 'The name of a gateway.',
  payable: 'Your own object that is paid for.',
  customer: 'What you gave of the customer.',
  metadata: 'An object of yours.',
  payment_id: 'The payment that it is about.',
  subscription_id: 'The subscription that it is about.',
  webhook_call_id: 'The stored callback that led to it.',
  next_cursor: 'The `cursor` of the next page; null: this is the last.',
  cursor: 'The `next_cursor` of the page before.',
}

const paging = 'database/page.ts#PageQuery'
const lookup = 'payments/payment.ts#paymentFilters'

/** What the parameters of each list are, by the name of its route. */
export const queries: Readonly<Record<string, readonly string[]>> = {
  listPayments: [lookup, paging],
  listPaymentMethods: ['payments/payment-method.ts#paymentMethodFilters', lookup, paging],
  listSubscriptions: ['subscriptions/subscription.ts#subscriptionFilters', paging],
  listInvoices: ['invoices/invoice.ts#invoiceFilters', paging],
  exportInvoices: ['invoices/invoice.ts#invoiceFilters'],
  listWebhookCalls: [paging],
  searchWebhookCalls: ['inspect/scan-calls.ts#ScanQuery', paging],
  listReviews: [paging],
  listRuns: [paging],
  listEvents: ['billing/event-types.ts#FeedQuery', 'events/event-record.ts#eventFilters', paging],
  listForwardAttempts: ['events/endpoint.ts#attemptFilters', paging],
  listForwards: [paging],
  streamEvents: ['billing/event-types.ts#ReadEventsOptions'],
}

export function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

function bodies(): readonly (readonly [string, Component])[] {
  return routes.flatMap(({ name, body }) => {
    if (body === undefined || fieldsOf(body.schema)?.length === 0) return []
    const title = capitalised(name)
    return [[title, { schema: body.schema, from: sent[title] ?? [] }] as const]
  })
}

/** Lists answer pages, each named after what is on it. */
function pages(): readonly (readonly [string, Component])[] {
  const rows = new Map(Object.entries(answered).map(([name, { schema }]) => [schema, name]))
  return routes.flatMap(({ answers }) => {
    const page = answers[200]
    if (!(page instanceof z.ZodObject) || !('next_cursor' in page.shape)) return []
    const { data } = page.shape
    const row = data instanceof z.ZodArray ? rows.get(data.element as z.ZodType) : undefined
    return row === undefined ? [] : [[`${row}Page`, { schema: page, from: [] }] as const]
  })
}

/** Undefined for what is no object. */
function fieldsOf(schema: z.ZodType): readonly string[] | undefined {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : undefined
}

export const components: Readonly<Record<string, Component>> = {
  ...answered,
  UsageRecord: { schema: usageRecord, from: ['usage/usage-input.ts#UsageInput'] },
  ...Object.fromEntries(bodies()),
  ...Object.fromEntries(pages()),
}
