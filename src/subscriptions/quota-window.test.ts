import assert from 'node:assert/strict'
import { test } from 'node:test'
import { days, minutes } from '../kernel/duration.ts'
import { inWindowOf } from './quota-window.ts'
import type { QuotaCounter, QuotaWindow } from './quota.ts'

const now = new Date('2030-05-20T12:00:00Z')
const ago = (time: number) => new Date(now.getTime() - time)

function windowOf(periodId: string, startedAgo: number, length = days(30)): QuotaWindow {
  return { periodId, startsAt: ago(startedAgo), endsAt: ago(startedAgo - length) }
}

const counting: QuotaCounter = {
  subscriptionId: 'subscription',
  quota: 'api',
  limit: 1_000n,
  every: null,
  percents: [100],
  anchorAt: ago(days(90)),
  timeZone: 'Etc/UTC',
  used: 700n,
  window: windowOf('second', days(10)),
  reached: 0,
  eventNumber: 1n,
  lookAt: null,
}

function moved(window: QuotaWindow, period: QuotaWindow) {
  const { counter, events } = inWindowOf({ ...counting, window }, { period, hasEnded: false }, now)
  return [counter.window, counter.used, events.map(({ data }) => data)]
}

/** What the event says of a window that begins where all of this was used before. */
function resetTo({ startsAt: windowStartsAt, endsAt: windowEndsAt }: QuotaWindow) {
  return { quota: 'api', limit: 1_000n, used: 700n, windowStartsAt, windowEndsAt }
}

test('a window moves to a period that begins later, never back to one that begins earlier', () => {
  const earlier = windowOf('first', days(40), days(60))
  const later = windowOf('second', days(10))
  assert.deepEqual(moved(earlier, later), [later, 0n, [resetTo(later)]])
  assert.deepEqual(moved(later, earlier), [later, 700n, []])
})

test('a window that a wrong clock has begun in the future moves back', () => {
  const right = windowOf('first', days(10))
  assert.deepEqual(moved(windowOf('second', -minutes(6)), right), [right, 0n, [resetTo(right)]])
})

test('other boundaries of the same period keep what is used', () => {
  for (const start of [days(10) - 1, days(10) + 1]) {
    const corrected = windowOf('second', start)
    assert.deepEqual(moved(windowOf('second', days(10)), corrected), [corrected, 700n, []])
  }
})
