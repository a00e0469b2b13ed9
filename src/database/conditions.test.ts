import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reviewFilters } from '../payments/review.ts'
import { conditionsOf } from './conditions.ts'

test('a filter that a query has from its class is a condition, as its own is', () => {
  class Query {
    get state() {
      return 'open' as const
    }
  }
  assert.equal(conditionsOf(reviewFilters, new Query()).length, 1)
  assert.equal(conditionsOf(reviewFilters, { state: 'open' }).length, 1)
  assert.equal(conditionsOf(reviewFilters, {}).length, 0)
})
