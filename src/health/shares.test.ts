import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decisionsOf } from '../inspect/gateway-facts.ts'
import { asksTooMuch, refusedShare } from './shares.ts'

const now = new Date('2026-11-22T12:00:30Z')
/** So many minutes before. */
const ago = (minutes: number) => new Date(Date.UTC(2026, 10, 22, 12, -minutes))
const minute = (minutes: number, answered: number, refused: number) => ({
  at: ago(minutes),
  answered,
  accepted: answered - refused,
})

test('a gateway refuses too much beyond 5 % of 20 or more in fifteen minutes', () => {
  assert.equal(refusedShare([minute(3, 20, 1)], now), undefined)
  assert.deepEqual(refusedShare([minute(3, 20, 2)], now), {
    refused: 2,
    answered: 20,
    since: ago(3),
  })
  assert.equal(refusedShare([minute(3, 19, 19)], now), undefined)
  assert.equal(refusedShare([minute(14, 10, 5), minute(0, 10, 0)], now)?.refused, 5)
  assert.equal(refusedShare([minute(15, 10, 10), minute(0, 10, 0)], now), undefined)
  assert.equal(refusedShare([], now), undefined)
})

test('since when it has refused is the first minute of all quarters in a row that did', () => {
  const since = (...minutes: ReturnType<typeof minute>[]) =>
    refusedShare([minute(2, 20, 10), ...minutes], now)?.since
  assert.deepEqual(since(minute(9, 5, 0), minute(8, 5, 1)), ago(8))
  assert.deepEqual(since(minute(20, 10, 5), minute(31, 2, 1), minute(40, 9, 0)), ago(31))
  // A quarter in which all was well, or nothing came, ends it.
  assert.deepEqual(since(minute(20, 100, 5), minute(31, 2, 1)), ago(2))
  assert.deepEqual(since(minute(31, 2, 1)), ago(2))
  // By the clock of a process that is ahead.
  assert.deepEqual(since(minute(-1, 1, 1)), ago(2))
})

test('callbacks do not come where more than a fifth of 20 or more was found by asking', () => {
  assert.equal(asksTooMuch({ byCallback: 16, byAsking: 4 }), false)
  assert.equal(asksTooMuch({ byCallback: 15, byAsking: 5 }), true)
  assert.equal(asksTooMuch({ byCallback: 0, byAsking: 19 }), false)
})

test('what was paid or declined counts; a checkout that nobody paid is found by asking anyway', () => {
  const counted = {
    'paid/call': 3,
    'failed/call': 2,
    'paid/poll': 4,
    'failed/poll': 1,
    'canceled/poll': 90,
    'canceled/service': 9,
    'paid/operator': 8,
  }
  const labels = Object.entries(counted).map(([label, value]) => ({ label, value }))
  assert.deepEqual(decisionsOf(labels), { byCallback: 5, byAsking: 5 })
})
