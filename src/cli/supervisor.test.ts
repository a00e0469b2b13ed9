import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hours, minutes, seconds } from '../kernel/duration.ts'
import { pauseAfter } from './supervisor.ts'

test('the pause before another process starts doubles while they keep ending, up to a minute', () => {
  const pauses = [pauseAfter(seconds(1), undefined)]
  for (let count = 1; count < 8; count += 1) pauses.push(pauseAfter(seconds(1), pauses.at(-1)))
  assert.deepEqual(pauses, [1, 2, 4, 8, 16, 32, 60, 60].map(seconds))
})

test('in place of a process that was well for a minute, another one starts after a short pause', () => {
  assert.equal(pauseAfter(minutes(1), minutes(1)), minutes(1))
  assert.equal(pauseAfter(hours(1), minutes(1)), seconds(1))
})
