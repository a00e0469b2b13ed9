import assert from 'node:assert/strict'
import { test } from 'node:test'
import { days } from '../kernel/duration.ts'
import { dunningEndsAt, nextRetryAt, retryTimes, type RetryFacts } from './retry-times.ts'

const firstFailedAt = new Date('2026-11-01T00:00:07Z')
const day = (count: number, more = 0) => new Date(firstFailedAt.getTime() + days(count) + more)

const facts = (fields: Partial<RetryFacts> = {}): RetryFacts => ({
  firstFailedAt,
  retryDays: [1, 3, 5, 7],
  endsAt: day(30),
  timeZone: 'UTC',
  ...fields,
})

test('a declined period is tried again some days after its first decline', () => {
  assert.deepEqual(retryTimes(facts()), [day(1), day(3), day(5), day(7)])
})

test('the days are those of the zone: the attempt is at the same time of day', () => {
  const late = { firstFailedAt: new Date('2026-10-24T20:30:00Z'), timeZone: 'Europe/Kyiv' }
  assert.deepEqual(retryTimes(facts({ ...late, retryDays: [1] })), [
    new Date('2026-10-25T21:30:00Z'),
  ])
})

test('nothing is tried once the period is over', () => {
  assert.deepEqual(retryTimes(facts({ endsAt: day(7) })), [day(1), day(3), day(5)])
  assert.deepEqual(retryTimes(facts({ endsAt: day(7, 1) })).length, 4)
  assert.deepEqual(retryTimes(facts({ endsAt: day(0) })), [])
})

test('days in any order, or twice, are tried in order and once', () => {
  assert.deepEqual(retryTimes(facts({ retryDays: [10, 9, 1, 9] })), [day(1), day(9), day(10)])
})

test('each decline is followed by the next attempt, the last by none', () => {
  assert.deepEqual(nextRetryAt(facts(), firstFailedAt), day(1))
  assert.deepEqual(nextRetryAt(facts(), day(1)), day(3))
  assert.deepEqual(nextRetryAt(facts(), day(1, -1)), day(1))
  assert.deepEqual(nextRetryAt(facts(), day(5, 9)), day(7))
  assert.equal(nextRetryAt(facts(), day(7)), null)
  assert.equal(nextRetryAt(facts({ retryDays: [] }), firstFailedAt), null)
})

test('a late decline stretches nothing: what went by meanwhile is not made up for', () => {
  assert.deepEqual(nextRetryAt(facts(), day(4)), day(5))
  assert.equal(nextRetryAt(facts(), day(8)), null)
})

test('dunning is over at its last attempt, without attempts at the first decline', () => {
  assert.deepEqual(dunningEndsAt(facts()), day(7))
  assert.deepEqual(dunningEndsAt(facts({ endsAt: day(4) })), day(3))
  assert.deepEqual(dunningEndsAt(facts({ retryDays: [] })), firstFailedAt)
})
