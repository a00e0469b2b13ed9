import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countDays, dayAfter, dayOf, daysOfMonth, isDay } from './day.ts'

test('a day is one that the calendar has, spelt in one way', () => {
  for (const day of ['1970-01-01', '2026-02-28', '2028-02-29', '9999-12-31']) assert.ok(isDay(day))
  for (const text of [
    '2026-02-29',
    '2026-13-01',
    '2026-1-1',
    '1969-12-31',
    '2026-11-26T00:00:00Z',
    ' 2026-11-26',
    '',
  ]) {
    assert.ok(!isDay(text), text)
  }
})

test('days follow one another in UTC, over months and years', () => {
  assert.equal(dayOf(new Date('2026-12-31T23:59:59.999Z')), '2026-12-31')
  assert.equal(dayAfter('2026-12-31'), '2027-01-01')
  assert.equal(dayAfter('2028-03-01', -1), '2028-02-29')
  assert.equal(countDays('2026-01-01', '2026-12-31'), 365)
  assert.equal(countDays('2026-01-01', '2026-01-01'), 1)
  assert.equal(countDays('2026-01-02', '2026-01-01'), 0)
})

test('a month has its first and its last day', () => {
  assert.deepEqual(daysOfMonth('2028-02'), { from: '2028-02-01', to: '2028-02-29' })
  assert.deepEqual(daysOfMonth('2026-12'), { from: '2026-12-01', to: '2026-12-31' })
  for (const text of ['2026-13', '2026', '2026-1', 'soon', '']) {
    assert.equal(daysOfMonth(text), undefined, text)
  }
})
