import type { EventType } from '../../src/events/catalogue.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { feedEventOf, type FeedEvent } from '../../src/wire/outgoing-event.ts'
import { createdEndpointView } from '../../src/wire/endpoint.ts'
import { createdSubscriptionView, listedSubscriptionOf } from '../../src/wire/subscription.ts'
import { listedPaymentView } from '../../src/wire/listed-payment.ts'
import { paymentDetailsView, type PaymentDetails } from '../../src/wire/payment-details.ts'
import { paymentView } from '../../src/wire/payment.ts'
import { usageResultView } from '../../src/wire/usage.ts'
import { withJson } from '../../src/kernel/with-json.ts'
import { subscription as plainSubscription } from '../subscriptions/states.ts'
import { pendingPayment } from '../support/pending-payment.ts'

/** What a route is asked, where it reads a body, and what it answers. */
export interface RouteExample {
  readonly body?: object
  readonly answer: object
}

const at = (seconds: number) => new Date(Date.parse('2026-11-20T12:00:00.123Z') + seconds * 1000)
const until = new Date('2026-12-20T12:00:00.123Z')
const ids = {
  payment: '01a2151f-270d-71e9-ba2e-82ff0f310c90',
  refund: '01a21523-9c3e-7b02-8d1f-5a6e01c4b7f2',
  call: '01a2151f-7485-7318-8044-846dc5ebd1ad',
  event: '01a2151f-7499-72ee-948b-782517679623',
  refunded: '01a21523-9d10-7099-ac72-e7e6423e91f6',
  subscription: '01a21530-1c5b-7d1a-9f60-3b8f2a4c6d10',
  card: '01a21528-02aa-74f3-8c55-6d0b9e7f1a23',
  endpoint: '01a21510-6b7e-7c44-a1d2-0f9e8d7c6b5a',
}

/** A payment of an order, from its checkout to a refund of a part of it. */
const pending = pendingPayment({
  id: ids.payment,
  gateway: 'fake',
  live: false,
  amount: 1_999n,
  currency: 'EUR',
  payable: { type: 'order', id: '42' },
  description: 'Order 42',
  customer: { email: 'olena@example.com' },
  returnUrl: 'https://shop.example/orders/42',
  checkout: 'open',
  checkoutUrl: `https://pay.shop.example/billing/fake/checkout/${ids.payment}`,
  handedAt: at(0),
  expiresAt: at(24 * 60 * 60),
  createdAt: at(0),
  updatedAt: at(0),
})
const paidPayment: Payment = { ...pending, status: 'paid', checkout: 'closed', updatedAt: at(20) }
const refund = pendingPayment({
  id: ids.refund,
  type: 'refund',
  parentId: ids.payment,
  gateway: 'fake',
  live: false,
  status: 'paid',
  amount: 500n,
  currency: 'EUR',
  payable: pending.payable,
  description: 'damaged',
  customer: pending.customer,
  providerReference: `fake_refund_${ids.refund}`,
  handedAt: at(300),
  createdAt: at(300),
  updatedAt: at(300),
})

function eventExample(
  type: 'PaymentSucceeded' | 'PaymentRefunded',
  { id, payment }: { readonly id: string; readonly payment: Payment },
): FeedEvent {
  const about = payment.type === 'refund' ? 'refund' : 'payment'
  const dedupKey = `${about}:paid:${payment.id}`
  return feedEventOf(
    { id, type, dedupKey, superseded: false, createdAt: payment.updatedAt, payment },
    about === 'refund' ? { position: 2n, source: 'refund' } : { position: 1n, source: 'call' },
  )
}

/** What endpoints get, and the feed has. */
export const eventExamples: Readonly<Partial<Record<EventType, FeedEvent>>> = {
  PaymentSucceeded: eventExample('PaymentSucceeded', { id: ids.event, payment: paidPayment }),
  PaymentRefunded: eventExample('PaymentRefunded', { id: ids.refunded, payment: refund }),
}

const sums = { refunded: 500n, refundable: 1_499n }
const history: Omit<PaymentDetails, 'toJSON'> = {
  ...paidPayment,
  ...sums,
  period: null,
  transitions: [
    { from: 'pending', to: 'paid', cause: 'call', webhookCallId: ids.call, at: at(20) },
  ],
  events: [],
  deferredEvents: [],
  refunds: [refund],
  disputes: [],
  paymentMethods: [],
  reviews: [],
  activity: [],
}

const subscription = listedSubscriptionOf(
  {
    ...plainSubscription,
    id: ids.subscription,
    live: false,
    plan: null,
    amount: 4_999n,
    currency: 'EUR',
    description: 'The magazine',
    customer: pending.customer,
    timeZone: 'UTC',
    anchorAt: at(0),
    paymentMethodId: ids.card,
    paidUntil: until,
    eventNumber: 1,
    nextActionAt: until,
    createdAt: at(0),
    updatedAt: at(0),
  },
  { renewable: true, now: at(0) },
)
const wanted = {
  gateway: 'fake',
  payable: { type: 'account', id: '7' },
  amount: 4_999,
  currency: 'EUR',
  every: 'month',
}

/** By the name of the route. Answers are written by what writes real ones. */
export const routeExamples: Readonly<Record<string, RouteExample>> = {
  createPayment: {
    body: {
      id: ids.payment,
      gateway: 'fake',
      amount: 1999,
      currency: 'EUR',
      payable: pending.payable,
      description: pending.description,
      customer: pending.customer,
      return_url: pending.returnUrl,
    },
    answer: paymentView(pending),
  },
  getPayment: { answer: paymentDetailsView(withJson(history, paymentDetailsView)) },
  listPayments: {
    answer: { data: [listedPaymentView({ ...paidPayment, ...sums })], next_cursor: null },
  },
  refundPayment: {
    body: { id: ids.refund, amount: 500, reason: 'damaged' },
    answer: paymentView(refund),
  },
  createSubscription: {
    body: { ...wanted, description: 'The magazine', payment_method_id: ids.card },
    answer: createdSubscriptionView({ subscription, payment: null }),
  },
  recordUsage: {
    body: { subscription_id: ids.subscription, quota: 'api_calls', units: 3, key: 'request-881' },
    answer: usageResultView({ result: 'counted', used: 3n, limit: 1_000n, left: 997n }),
  },
  listEvents: {
    answer: {
      data: Object.values(eventExamples).map((event) => event.toJSON()),
      next_cursor: ids.refunded,
      has_more: false,
    },
  },
  createEndpoint: {
    body: { name: 'shop', url: 'https://shop.example/hooks' },
    answer: createdEndpointView({
      endpoint: {
        id: ids.endpoint,
        name: 'shop',
        source: 'api',
        url: 'https://shop.example/hooks',
        description: null,
        eventTypes: null,
        gateways: null,
        payload: 'full',
        maxConcurrency: 4,
        ratePerSecond: null,
        timeoutSeconds: 15,
        enabled: true,
        disabledReason: null,
        disabledAt: null,
        position: 2,
        behind: 0,
        oldestAt: null,
        failures: 0,
        failingSince: null,
        nextAt: null,
        createdAt: at(0),
        updatedAt: at(0),
      },
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
    }),
  },
}
