import {
  eventTypes,
  isUnverified,
  type EventPayloads,
  type EventType,
} from '../../src/events/catalogue.ts'
import {
  browserDedupKey,
  disputeDedupKey,
  invoiceDedupKey,
  isInvoiceEventType,
  paymentDedupKey,
  paymentMethodDedupKey,
  refundDedupKey,
} from '../../src/events/dedup-key.ts'
import { endpointDisabledKey, endpointEventType } from '../../src/events/endpoint-event.ts'
import { isSubscriptionEventType } from '../../src/events/event-data.ts'
import { disputeStatuses } from '../../src/payments/dispute.ts'
import type { PaymentMethodStatus } from '../../src/payments/payment-method.ts'
import {
  noCardKey,
  noticeKey,
  pauseKey,
  paymentFailedKey,
  periodKey,
  subscriptionKey,
} from '../../src/subscriptions/event-keys.ts'
import type { SubscriptionPeriod } from '../../src/subscriptions/period.ts'
import { firedFor, type QuotaCounter, type QuotaEvent } from '../../src/subscriptions/quota.ts'
import { code, codes, type Table } from './table.ts'

type Carried = { readonly [T in EventType]: Readonly<Record<keyof EventPayloads[T], true>> }

const payment = { payment: true } as const
const paymentMethod = { paymentMethod: true } as const
const subscription = { subscription: true } as const
const period = { ...subscription, period: true } as const

/** What each event carries: its type refuses a field too few and one too many. */
const carried: Carried = {
  PaymentSucceeded: payment,
  PaymentFailed: payment,
  PaymentCanceled: payment,
  PaymentRefunded: payment,
  PaymentMethodAttached: paymentMethod,
  PaymentMethodDetached: paymentMethod,
  SubscriptionCreated: subscription,
  SubscriptionRenewed: { ...period, payment: true, previousStatus: true, skippedPeriods: true },
  SubscriptionPaymentFailed: {
    ...period,
    payment: true,
    attempt: true,
    nextAttemptAt: true,
    needs: true,
    payUrl: true,
  },
  SubscriptionAccessSuspended: period,
  SubscriptionCancelled: { ...subscription, previousStatus: true, reason: true },
  SubscriptionPaused: { ...subscription, reason: true, resumesAt: true },
  SubscriptionResumed: subscription,
  TrialWillEnd: { ...subscription, endsAt: true, renews: true, notice: true },
  TrialEnded: { ...subscription, converts: true },
  SubscriptionPeriodEnding: { ...period, renews: true, notice: true },
  SubscriptionQuotaReset: {
    ...subscription,
    quota: true,
    limit: true,
    used: true,
    windowStartsAt: true,
    windowEndsAt: true,
  },
  UsageLimitReached: { ...subscription, quota: true, limit: true, used: true, percent: true },
  InvoiceIssued: { invoice: true },
  InvoicePaid: { invoice: true, payment: true },
  CheckoutReturned: payment,
  PaymentLinkOpened: payment,
  PaymentDisputed: { payment: true, dispute: true },
  EndpointDisabled: { endpoint: true, reason: true, disabledAt: true },
}

/** By what an event says of itself: a subscription, a document, a browser; else by an outcome. */
function firedBy(type: EventType): string {
  if (isSubscriptionEventType(type)) return 'a subscription'
  if (isInvoiceEventType(type)) return 'a document'
  if (isUnverified(type)) return 'a browser'
  return type === endpointEventType ? 'an endpoint' : 'an outcome'
}

/** The key with these names in place of its numbers, in their order. */
function naming(key: string, ...names: readonly string[]): string {
  const left = [...names]
  return code(key.replaceAll(/(?<=\/)\d[^/]*/g, () => left.shift() ?? ''))
}

function methodKeys(status: PaymentMethodStatus): readonly [string, string] {
  const keyOf = (merchantAccount: string | null) =>
    code(
      paymentMethodDedupKey(status, {
        gateway: '<gateway>',
        merchantAccount,
        providerReference: '<card>',
      }),
    )
  return [keyOf(null), keyOf('<account>')]
}

const [attached, attachedThere] = methodKeys('attached')
const [detached, detachedThere] = methodKeys('detached')

const noCard = (paymentsMade: number) =>
  naming(noCardKey({ id: '<period>', paymentsMade } as SubscriptionPeriod), '<number of payments>')

const notice = (what: Parameters<typeof noticeKey>[0]) =>
  naming(
    noticeKey(what, '<subscription>', { end: new Date(0), notice: 1 }),
    '<time in seconds>',
    '<number of the notice>',
  )

function quotaKey(event: QuotaEvent): string {
  const counter = { subscriptionId: '<subscription>', quota: '<quota>', eventNumber: 0n }
  const [fired] = firedFor({ counter: counter as QuotaCounter, events: [] }, event).events
  return naming(fired?.dedupKey ?? '', '<number of the event>')
}

const endpointKey = naming(
  endpointDisabledKey({ id: '<endpoint>', disabledAt: new Date(0) }),
  '<time it was disabled>',
)

const paymentKey = (status: Parameters<typeof paymentDedupKey>[0]) =>
  code(paymentDedupKey(status, '<payment>'))
const ofSubscription = (what: Parameters<typeof subscriptionKey>[0]) =>
  code(subscriptionKey(what, '<subscription>'))
const paused = (what: Parameters<typeof pauseKey>[0]) =>
  naming(pauseKey(what, '<subscription>', 1), '<number of the event>')
const disputeKeys = disputeStatuses.map((status) => disputeDedupKey({ id: '<dispute>', status }))

/** The keys of each event, and what is to be said of them. */
const keys: Readonly<Record<EventType, string>> = {
  PaymentSucceeded: paymentKey('paid'),
  PaymentFailed: paymentKey('failed'),
  PaymentCanceled: paymentKey('canceled'),
  PaymentRefunded: `${code(refundDedupKey('<refund>'))}: the id of the refund's row`,
  PaymentMethodAttached: `${attached}, the card being the provider's id of it; with a merchant's account ${attachedThere}`,
  PaymentMethodDetached: `${detached}, or ${detachedThere}`,
  SubscriptionCreated: ofSubscription('created'),
  SubscriptionRenewed: code(periodKey('renewed', '<period>')),
  SubscriptionPaymentFailed: `${code(paymentFailedKey('<payment>'))}; where there was no card to charge ${noCard(0)}, and after payments of that period ${noCard(1)}`,
  SubscriptionAccessSuspended: code(periodKey('suspended', '<period>')),
  SubscriptionCancelled: ofSubscription('canceled'),
  SubscriptionPaused: paused('paused'),
  SubscriptionResumed: paused('resumed'),
  TrialWillEnd: `${notice('trial_will_end')}: the time is the announced end`,
  TrialEnded: ofSubscription('trial_ended'),
  SubscriptionPeriodEnding: notice('period_ending'),
  SubscriptionQuotaReset: quotaKey({
    type: 'SubscriptionQuotaReset',
    data: { quota: '', limit: null, used: 0n, windowStartsAt: new Date(0), windowEndsAt: null },
  }),
  UsageLimitReached: quotaKey({
    type: 'UsageLimitReached',
    data: { quota: '', limit: 1n, used: 1n, percent: 100 },
  }),
  InvoiceIssued: code(invoiceDedupKey('InvoiceIssued', '<invoice>')),
  InvoicePaid: code(invoiceDedupKey('InvoicePaid', '<invoice>')),
  CheckoutReturned: code(browserDedupKey('CheckoutReturned', '<payment>')),
  PaymentLinkOpened: code(browserDedupKey('PaymentLinkOpened', '<payment>')),
  PaymentDisputed: `${codes(disputeKeys)}: the id of the dispute's row`,
  EndpointDisabled: endpointKey,
}

const page = 'docs/events.md'

export const eventTables: readonly Table[] = [
  {
    page,
    under: 'What each carries',
    rows: [
      ['Event', 'Fires when', 'Carries', 'Fired by'],
      ...eventTypes.map((type) => [
        code(type),
        undefined,
        codes(Object.keys(carried[type])),
        firedBy(type),
      ]),
    ],
  },
  {
    page,
    under: 'Dedup keys',
    rows: [['Event', 'Key'], ...eventTypes.map((type) => [code(type), keys[type]])],
  },
]
