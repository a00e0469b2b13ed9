import assert from 'node:assert/strict'
import { test } from 'node:test'
import { subscriptionEvents, type PlannedEvent } from '../subscriptions/events.ts'
import {
  isSubscriptionEventType,
  readEventData,
  readPlannedEvent,
  writeEventData,
  type StoredData,
} from './event-data.ts'

const id = '0190a5e2-6b1c-7000-8000-000000000001'
const otherId = '0190a5e2-6b1c-7000-8000-000000000002'
const at = new Date('2026-11-23T18:00:00.123Z')

const each: readonly PlannedEvent[] = [
  { type: 'SubscriptionCreated', data: {} },
  {
    type: 'SubscriptionRenewed',
    data: { periodId: id, paymentId: otherId, previousStatus: 'past_due', skippedPeriods: 2 },
  },
  {
    type: 'SubscriptionRenewed',
    data: { periodId: id, paymentId: null, previousStatus: 'incomplete', skippedPeriods: 0 },
  },
  {
    type: 'SubscriptionPaymentFailed',
    data: { periodId: id, paymentId: null, attempt: 1, nextAttemptAt: at, needs: 'new_card' },
  },
  { type: 'SubscriptionAccessSuspended', data: { periodId: id } },
  { type: 'SubscriptionCancelled', data: { previousStatus: 'active', reason: 'requested' } },
  { type: 'SubscriptionPaused', data: { reason: 'payment_failed', resumesAt: null } },
  { type: 'SubscriptionPaused', data: { reason: 'requested', resumesAt: at } },
  { type: 'SubscriptionResumed', data: {} },
  { type: 'TrialWillEnd', data: { renews: true, notice: 1, endsAt: at } },
  { type: 'TrialEnded', data: { converts: false } },
  {
    type: 'SubscriptionPeriodEnding',
    data: { renews: false, notice: 2, periodId: id, endsAt: at },
  },
  {
    type: 'SubscriptionQuotaReset',
    data: {
      quota: 'api_calls',
      limit: 9_007_199_254_740_993n,
      used: 9_007_199_254_740_994n,
      windowStartsAt: at,
      windowEndsAt: at,
    },
  },
  {
    type: 'SubscriptionQuotaReset',
    data: { quota: 'a.b-c', limit: null, used: 0n, windowStartsAt: at, windowEndsAt: null },
  },
  {
    type: 'UsageLimitReached',
    data: { quota: 'api_calls', limit: 0n, used: 9_007_199_254_740_993n, percent: 100 },
  },
]

/** As the database gives it back. */
const stored = (event: PlannedEvent) => JSON.parse(JSON.stringify(writeEventData(event))) as object

test('what an event of a subscription stores is read back as it was', () => {
  assert.deepEqual([...new Set(each.map(({ type }) => type))], Object.keys(subscriptionEvents))
  for (const event of each) {
    assert.deepEqual(readPlannedEvent(event.type, stored(event) as StoredData), event)
  }
})

test('it is stored as ids and scalars, under names in snake_case', () => {
  const [, , , failed = assert.fail()] = each
  assert.deepEqual(stored(failed), {
    period_id: id,
    payment_id: null,
    attempt: 1,
    next_attempt_at: '2026-11-23T18:00:00.123Z',
    needs: 'new_card',
  })
})

test('what a newer version has added is passed over', () => {
  const data = { period_id: id, reason: { code: 'stolen' } }
  const event = { type: 'SubscriptionAccessSuspended', data: { periodId: id } }
  assert.deepEqual(readPlannedEvent('SubscriptionAccessSuspended', data), event)
})

test('anything that is not as we write it is refused, and named', () => {
  const wrong: readonly [PlannedEvent['type'], string, unknown][] = [
    ['SubscriptionRenewed', 'period_id', 'p1'],
    ['SubscriptionRenewed', 'payment_id', undefined],
    ['SubscriptionRenewed', 'previous_status', 'unpaid'],
    ['SubscriptionRenewed', 'skipped_periods', -1],
    ['SubscriptionRenewed', 'skipped_periods', '2'],
    ['SubscriptionRenewed', 'skipped_periods', 1.5],
    ['SubscriptionPaymentFailed', 'next_attempt_at', '2026-11-23'],
    ['SubscriptionPaymentFailed', 'next_attempt_at', '2026-13-23T18:00:00.123Z'],
    ['SubscriptionPaymentFailed', 'next_attempt_at', at.getTime()],
    ['SubscriptionPaymentFailed', 'needs', 'a_miracle'],
    ['SubscriptionCancelled', 'reason', null],
    ['TrialEnded', 'converts', 'yes'],
    ['TrialWillEnd', 'ends_at', null],
    ['SubscriptionQuotaReset', 'quota', 'API calls'],
    ['SubscriptionQuotaReset', 'limit', 5],
    ['SubscriptionQuotaReset', 'limit', '-5'],
    ['UsageLimitReached', 'limit', null],
    ['UsageLimitReached', 'used', '05'],
    ['UsageLimitReached', 'percent', '80'],
  ]
  for (const [type, name, value] of wrong) {
    const event = each.find((one) => one.type === type) ?? assert.fail()
    const data = { ...stored(event), [name]: value }
    assert.throws(() => readEventData(type, data), new RegExp(`${type} .*: ${name}$`))
  }
})

test('a type of another subject stores nothing here', () => {
  assert.equal(isSubscriptionEventType('TrialEnded'), true)
  for (const type of ['PaymentSucceeded', 'InvoiceIssued', 'toString', '__proto__']) {
    assert.equal(isSubscriptionEventType(type), false)
  }
})
