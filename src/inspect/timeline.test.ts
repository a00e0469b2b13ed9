import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pendingPayment } from '../../test/support/pending-payment.ts'
import type { HistoryCall, HistoryDelivery, MovedPayment } from '../database/payment-history.ts'
import type { Review } from '../payments/review.ts'
import { mergeTimeline, type PaymentHistory } from './timeline.ts'
import type { TimelineEntry } from './timeline-entry.ts'

const at = (second: number) => new Date(Date.UTC(2026, 10, 22, 10, 0, second))

const payment = pendingPayment({
  id: 'p',
  gateway: 'own',
  status: 'paid',
  checkout: 'open',
  createdAt: at(0),
  updatedAt: at(0),
})
const nothing: PaymentHistory = {
  payment,
  refunds: [],
  moves: [],
  calls: [],
  failedAttempts: [],
  events: [],
  deliveries: [],
  activity: [],
  disputes: [],
  reviews: [],
  actions: [],
}
const call: HistoryCall = {
  id: 'c1',
  gateway: 'own',
  state: 'processed',
  attempts: 0,
  outcome: [{ result: 'applied', type: 'payment' }],
  needsReview: false,
  receivedAt: at(3),
  processedAt: at(4),
}
const move: MovedPayment = {
  id: 'm1',
  paymentId: 'p',
  from: 'pending',
  to: 'failed',
  cause: 'call',
  webhookCallId: 'c1',
  at: at(4),
}
const delivery: HistoryDelivery = {
  id: 'd1',
  eventId: 'e1',
  eventType: null,
  listener: 'mail',
  state: 'processed',
  attempts: 1,
  nextAttemptAt: null,
  createdAt: at(4),
  processedAt: at(9),
}
const event = {
  id: 'e1',
  type: 'PaymentFailed',
  paymentId: 'p',
  webhookCallId: 'c1',
  source: 'call',
  superseded: false,
  createdAt: at(4),
} as const

const merge = (history: Partial<PaymentHistory>) => mergeTimeline({ ...nothing, ...history })
const only = <Kind extends TimelineEntry['kind']>(
  entries: readonly TimelineEntry[],
  kind: Kind,
): Extract<TimelineEntry, { readonly kind: Kind }> => {
  const [found, ...others] = entries.filter((entry) => entry.kind === kind)
  assert.ok(found)
  assert.deepEqual(others, [])
  return found as Extract<TimelineEntry, { readonly kind: Kind }>
}

test('entries stand in the order of time; of those at the same time, causes come first', () => {
  const review = { id: 'r', createdAt: at(4), lastAt: at(4), handledAt: at(7) } as Review
  const entries = merge({
    calls: [{ ...call, receivedAt: at(4) }],
    events: [event, { ...event, id: 'e2', source: 'browser', createdAt: at(1) }],
    deliveries: [delivery],
    reviews: [review],
    moves: [{ ...move, webhookCallId: null, cause: 'poll' }],
    failedAttempts: [
      {
        id: 'f',
        callId: null,
        deliveryId: 'd1',
        attempt: 1,
        listener: 'mail',
        exception: 'x',
        at: at(5),
      },
    ],
  })
  assert.deepEqual(
    entries.map((entry) => [entry.kind, entry.at.getUTCSeconds()]),
    [
      ['created', 0],
      ['browser', 1],
      ['call', 4],
      ['transition', 4],
      ['review', 4],
      ['event', 4],
      ['failed_attempt', 5],
      ['review_handled', 7],
      ['delivery', 9],
    ],
  )
})

test('what a call changed stands with the call, in order; what anything else changed, alone', () => {
  const refund = { ...payment, id: 'r', type: 'refund', parentId: 'p', createdAt: at(4) } as const
  const entries = merge({
    refunds: [refund],
    calls: [call],
    moves: [
      { ...move, id: 'm3', paymentId: 'r', from: 'pending', to: 'paid' },
      { ...move, id: 'm2', from: 'failed', to: 'paid' },
      move,
      { ...move, id: 'm4', webhookCallId: 'pruned', at: at(8) },
    ],
  })
  const { moves, groups, durationMs, isDuplicate } = only(entries, 'call')
  assert.deepEqual(moves, [
    { paymentId: 'p', isRefund: false, from: 'pending', to: 'failed' },
    { paymentId: 'p', isRefund: false, from: 'failed', to: 'paid' },
    { paymentId: 'r', isRefund: true, from: 'pending', to: 'paid' },
  ])
  assert.deepEqual(groups, ['money', 'callbacks'])
  assert.equal(durationMs, 1000)
  assert.equal(isDuplicate, false)
  const alone = only(entries, 'transition')
  assert.deepEqual([alone.callId, alone.from, alone.to], ['pruned', 'pending', 'failed'])
  assert.equal(only(entries, 'refund').refundId, 'r')
})

test('a call that says nothing new is a duplicate; one that failed, or is for a person, is a problem', () => {
  const duplicate = { result: 'duplicate', type: 'payment' } as const
  const entry = (fields: Partial<HistoryCall>) =>
    only(merge({ calls: [{ ...call, ...fields }] }), 'call')
  assert.equal(entry({ outcome: [duplicate, duplicate] }).isDuplicate, true)
  const [applied] = call.outcome ?? []
  assert.ok(applied)
  assert.equal(entry({ outcome: [duplicate, applied] }).isDuplicate, false)
  assert.equal(entry({ outcome: [] }).isDuplicate, false)
  const waiting = entry({ outcome: null, state: 'pending', processedAt: null })
  assert.deepEqual([waiting.isDuplicate, waiting.durationMs], [false, null])
  assert.deepEqual(waiting.groups, ['callbacks'])
  assert.deepEqual(entry({ state: 'failed' }).groups, ['callbacks', 'problems'])
  assert.deepEqual(entry({ needsReview: true }).groups, ['callbacks', 'problems'])
})

test('a delivery stands where it ended, or waits; a deferred event until it is dispatched', () => {
  const ended = only(merge({ deliveries: [delivery] }), 'delivery')
  assert.deepEqual([ended.at, ended.durationMs, ended.groups], [at(9), 5000, ['listeners']])
  const failed = { ...delivery, state: 'failed', processedAt: null } as const
  const waiting = only(merge({ deliveries: [failed] }), 'delivery')
  assert.deepEqual([waiting.at, waiting.durationMs], [at(4), null])
  assert.deepEqual(waiting.groups, ['listeners', 'problems'])
  const deferred = { ...failed, eventId: null, listener: null, eventType: 'PaymentSucceeded' }
  const entry = only(merge({ deliveries: [deferred] }), 'deferred')
  assert.deepEqual([entry.eventType, entry.at], ['PaymentSucceeded', at(4)])
  const dispatched = merge({ deliveries: [{ ...deferred, state: 'processed' }] })
  assert.deepEqual(
    dispatched.map(({ kind }) => kind),
    ['created'],
  )
})

test('a failed attempt says whose it was: by its row, or by what was thrown', () => {
  const failed = { id: 'f', attempt: 2, at: at(5), callId: null, deliveryId: null, listener: null }
  const ofCall = only(
    merge({
      failedAttempts: [{ ...failed, callId: 'c1', exception: 'in listener grant: Error: no\n at' }],
    }),
    'failed_attempt',
  )
  assert.deepEqual([ofCall.listener, ofCall.error, ofCall.eventId], ['grant', 'Error: no', null])
  assert.deepEqual(ofCall.groups, ['callbacks', 'listeners', 'problems'])
  const ofDelivery = only(
    merge({
      deliveries: [{ ...delivery, state: 'pending', processedAt: null }],
      failedAttempts: [
        { ...failed, deliveryId: 'd1', listener: 'mail', exception: 'Error: no mail' },
      ],
    }),
    'failed_attempt',
  )
  assert.deepEqual([ofDelivery.listener, ofDelivery.eventId], ['mail', 'e1'])
  assert.deepEqual(ofDelivery.groups, ['listeners', 'problems'])
})

test('what was asked, disputed and refunded is about money, and a problem where it went wrong', () => {
  const activity = {
    paymentId: 'p',
    operation: 'poll',
    result: 'answered',
    detail: 'open',
    times: 3,
    durationMs: 12,
    firstAt: at(5),
    lastAt: at(6),
  }
  const asked = only(merge({ activity: [activity] }), 'asked')
  assert.deepEqual([asked.at, asked.times, asked.groups], [at(5), 3, ['money']])
  const unreachable = only(merge({ activity: [{ ...activity, result: 'unreachable' }] }), 'asked')
  assert.deepEqual(unreachable.groups, ['money', 'problems'])
  const failed = { ...payment, id: 'r', type: 'refund', parentId: 'p', status: 'failed' } as const
  assert.deepEqual(only(merge({ refunds: [failed] }), 'refund').groups, ['money', 'problems'])
})
