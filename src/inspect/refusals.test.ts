import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusalsOf } from './refusals.ts'

const answer = (label: string, value: number) => ({ metric: 'callbacks_total', label, value })
const reason = (label: string, value: number) => {
  return { metric: 'callbacks_refused_total', label, value }
}

test('what was not answered 200 is counted once, by its reason or else by its answer', () => {
  assert.deepEqual(
    refusalsOf([
      answer('accepted', 100),
      answer('refused', 5),
      answer('malformed', 4),
      // Three of these could not be checked, and have a reason; one met a database that was away.
      answer('unavailable', 4),
      reason('signature_mismatch', 5),
      reason('keys_unreachable', 3),
      { metric: 'calls_finished_total', label: 'failed', value: 9 },
    ]),
    [
      { reason: 'signature_mismatch', count: 5 },
      { reason: 'malformed', count: 4 },
      { reason: 'keys_unreachable', count: 3 },
      { reason: 'unavailable', count: 1 },
    ],
  )
})

test('the same reason of several gateways is one, and none is shown for nothing', () => {
  assert.deepEqual(refusalsOf([reason('b', 1), reason('a', 1), reason('b', 1)]), [
    { reason: 'b', count: 2 },
    { reason: 'a', count: 1 },
  ])
  assert.deepEqual(refusalsOf([answer('accepted', 3), answer('malformed', 0)]), [])
  assert.deepEqual(refusalsOf([answer('unavailable', 1), reason('keys_unreachable', 2)]), [
    { reason: 'keys_unreachable', count: 2 },
  ])
})
