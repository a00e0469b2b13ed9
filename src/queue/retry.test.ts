import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mayReturn, retryDelay, returnDelay } from './retry.ts'

test('a call that threw has two other attempts: after 10 s, then after 60 s', () => {
  assert.deepEqual([1, 2, 3, 4].map(retryDelay), [10_000, 60_000, undefined, undefined])
})

test('twenty passing failures cost no attempt, the next one does', () => {
  const allowed = [0, 19, 20, 21].map((times_returned) => mayReturn({ times_returned }))
  assert.deepEqual(allowed, [true, true, false, false])
})

test('the wait after a passing failure doubles up to half a minute; chance takes up to half of it', () => {
  const longest = [0, 1, 2, 3, 7, 8, 20].map((times) => returnDelay(times, () => 1))
  assert.deepEqual(longest, [200, 400, 800, 1_600, 25_600, 30_000, 30_000])
  assert.deepEqual(
    [0, 0.5].map((chance) => returnDelay(2, () => chance)),
    [400, 600],
  )
})
