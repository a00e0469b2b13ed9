import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callAttempts, mayReturn, nextTry, returnDelay } from './retry.ts'

test('a call that threw has two other attempts: after 10 s, then after 60 s', () => {
  const tries = [1, 2, 3, 4].map((attempt) => nextTry(attempt, callAttempts))
  assert.deepEqual(tries, [
    { kind: 'retry', after: 10_000 },
    { kind: 'retry', after: 60_000 },
    { kind: 'give_up' },
    { kind: 'give_up' },
  ])
})

test('whoever has more attempts makes them a minute apart', () => {
  assert.deepEqual(nextTry(3, 5), { kind: 'retry', after: 60_000 })
  assert.deepEqual(nextTry(4, 5), { kind: 'retry', after: 60_000 })
  assert.deepEqual(nextTry(5, 5), { kind: 'give_up' })
  assert.deepEqual(nextTry(1, 1), { kind: 'give_up' })
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
