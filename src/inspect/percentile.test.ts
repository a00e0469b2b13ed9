import assert from 'node:assert/strict'
import { test } from 'node:test'
import { percentilesOf } from './percentile.ts'

const counted = (counts: Readonly<Record<string, number>>) =>
  percentilesOf(Object.entries(counts).map(([label, value]) => ({ label, value })))

test('percentiles lie where they would if each bucket were filled evenly', () => {
  // 50 up to 1 ms, 50 between 10 and 20 ms.
  assert.deepEqual(counted({ '0.001': 50, '0.02': 50 }), { p50: 0.001, p99: 0.0198 })
  assert.deepEqual(counted({ '0.001': 100 }), { p50: 0.0005, p99: 0.00099 })
  assert.deepEqual(counted({ '0.005': 1 }), { p50: 0.0035, p99: 0.00497 })
})

test('what took longer than the last bound counts as that', () => {
  assert.deepEqual(counted({ '0.001': 1, '+Inf': 99 }), { p50: 1800, p99: 1800 })
})

test('the sum is no bucket; the same bucket of several gateways is one', () => {
  assert.equal(counted({ sum: 12.5 }), null)
  assert.equal(percentilesOf([]), null)
  const twice = [
    { label: '1', value: 1 },
    { label: '1', value: 1 },
    { label: 'sum', value: 9 },
  ]
  assert.deepEqual(percentilesOf(twice), counted({ '1': 2 }))
})
