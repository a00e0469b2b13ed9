import assert from 'node:assert/strict'
import { test } from 'node:test'
import { intervalText, readInterval } from './interval.ts'
import { intervalUnits } from './subscription.ts'

test('a length of a period is read in every form that people write', () => {
  const forms = [
    ['month', 'month', 1],
    ['1 month', 'month', 1],
    ['3 months', 'month', 3],
    ['3 month', 'month', 3],
    ['  2   weeks ', 'week', 2],
    ['366 days', 'day', 366],
    [{ unit: 'year' }, 'year', 1],
    [{ unit: 'week', count: 52 }, 'week', 52],
  ] as const
  for (const [given, unit, count] of forms) assert.deepEqual(readInterval(given), { unit, count })
})

test('what is no length of a period, or could mean another, is not read', () => {
  const wrong = ['', 'months', 'monthly', '0 months', '367 days', '-1 month', '1.5 months', 'Month']
  const objects = [
    { count: 3 },
    { unit: 'month', count: 0 },
    { unit: 'month', count: 1.5 },
    { unit: 'month', count: 367 },
    { unit: 'month', count: '3' },
    { unit: 'months' },
    { unit: 'month', cuont: 3 },
  ]
  for (const one of [...wrong, ...objects, 3, null, undefined, ['month']]) {
    assert.equal(readInterval(one), undefined, JSON.stringify(one))
  }
})

test('a length in words is read back as the same length', () => {
  for (const unit of intervalUnits) {
    for (const count of [1, 2, 366]) {
      assert.deepEqual(readInterval(intervalText({ unit, count })), { unit, count })
    }
  }
})
