import assert from 'node:assert/strict'
import { test } from 'node:test'
import { days, hours, minutes } from '../kernel/duration.ts'
import { nextRun } from './schedule.ts'

function next(schedule: Parameters<typeof nextRun>[0], from: string): string {
  return nextRun(schedule, new Date(from)).toISOString()
}

test('a schedule of minutes runs at the whole ones, and never twice in the same', () => {
  const everyMinute = { every: minutes(1) }
  assert.equal(next(everyMinute, '2026-11-22T10:00:00.000Z'), '2026-11-22T10:01:00.000Z')
  assert.equal(next(everyMinute, '2026-11-22T10:00:59.999Z'), '2026-11-22T10:01:00.000Z')
  assert.equal(next(everyMinute, '2026-12-31T23:59:30.000Z'), '2027-01-01T00:00:00.000Z')
  assert.equal(next({ every: minutes(5) }, '2026-11-22T10:04:59.000Z'), '2026-11-22T10:05:00.000Z')
})

test('a daily schedule runs at its time of day in UTC, also over the end of a month', () => {
  const nightly = { every: days(1), offset: hours(3) + minutes(17) }
  assert.equal(next(nightly, '2026-11-22T03:16:59.999Z'), '2026-11-22T03:17:00.000Z')
  assert.equal(next(nightly, '2026-11-22T03:17:00.000Z'), '2026-11-23T03:17:00.000Z')
  assert.equal(next(nightly, '2028-02-28T23:00:00.000Z'), '2028-02-29T03:17:00.000Z')
  assert.equal(next(nightly, '2028-02-29T12:00:00.000Z'), '2028-03-01T03:17:00.000Z')
})
