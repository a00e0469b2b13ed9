import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hours, minutes, seconds } from '../../src/kernel/duration.ts'
import { healthAfter, healthAtStart, isOpen, type Health } from '../../src/outbound/breaker.ts'
import {
  failuresToOpen,
  mostAttempts,
  nextAttemptAfter,
  restAfter,
  retryAfterOf,
} from '../../src/outbound/schedule.ts'

const now = new Date('2026-11-20T12:00:00Z')
const asked = (header: string | undefined, status = 429) => retryAfterOf(status, header, now)

test('Retry-After: seconds, and each form of a date in HTTP (18)', () => {
  assert.equal(asked('120'), seconds(120))
  assert.equal(asked(' 7 '), seconds(7))
  for (const date of [
    'Fri, 20 Nov 2026 12:02:00 GMT',
    'Friday, 20-Nov-26 12:02:00 GMT',
    'Fri Nov 20 12:02:00 2026',
  ]) {
    assert.equal(asked(date), minutes(2), date)
  }
})

test('Retry-After is bounded: never before now, never beyond a day (18)', () => {
  assert.equal(asked('0'), 0)
  assert.equal(asked('Fri, 20 Nov 2026 11:00:00 GMT'), 0)
  assert.equal(asked('86401'), hours(24))
  assert.equal(asked('9'.repeat(400)), hours(24))
  assert.equal(asked('Sat, 20 Nov 2027 12:00:00 GMT'), hours(24))
})

test('where Retry-After is missing or nonsense, it is a minute (18)', () => {
  const nonsense = ['', '-5', '1.5', 'soon 5', '1e3', '0x10', '2026-11-20', 'Fri', 'Fri, soon']
  for (const text of [undefined, ...nonsense])
    assert.equal(asked(text), seconds(60), text ?? 'none')
})

test('Retry-After counts only where an answer says that it is too much (18)', () => {
  for (const status of [429, 502, 503, 504]) assert.equal(asked('5', status), seconds(5))
  for (const status of [301, 400, 401, 404, 408, 410, 500, 501]) {
    assert.equal(asked('5', status), undefined, String(status))
  }
})

test('an event is tried ten times, at the times of the standard (23)', () => {
  const wanted = [
    seconds(5),
    minutes(5),
    minutes(30),
    ...[2, 5, 10, 14, 20, 24].map((count) => hours(count)),
  ]
  const pauses = (random: number) => {
    const found = []
    for (let attempts = 1; ; attempts += 1) {
      const pause = nextAttemptAfter(attempts, random)
      if (pause === undefined) return found
      found.push(pause)
    }
  }
  assert.deepEqual(pauses(0.5), wanted)
  assert.equal(pauses(0.5).length + 1, mostAttempts)
  assert.equal(mostAttempts, 10)
  assert.deepEqual(
    pauses(0),
    wanted.map((pause) => Math.round(pause * 0.8)),
  )
  assert.deepEqual(
    pauses(1),
    wanted.map((pause) => Math.round(pause * 1.2)),
  )
})

const failed = { result: 'rejected', retryAfter: undefined } as const
const delivered = { result: 'delivered', retryAfter: undefined } as const

function after(health: Health, results: readonly Parameters<typeof healthAfter>[1][]): Health {
  return results.reduce((one, result) => healthAfter(one, result, 64), health)
}

test('an endpoint that fails is asked again after 30 s, 1, 2, 5, 10, then each 15 minutes (23)', () => {
  const rests = []
  let failures = 0
  while (rests.length < 9) {
    const health = after(healthAtStart(failures), [failed])
    failures = health.failures
    if (isOpen(health)) rests.push(health.rest)
    else assert.equal(health.rest, undefined)
  }
  const wanted = [0.5, 1, 2, 5, 10, 15, 15, 15, 15].map((count) => minutes(count))
  assert.deepEqual(rests, wanted)
  assert.equal(restAfter(failuresToOpen - 1), undefined)
})

test('sixty-four requests that fail at once are one outage: it is asked again after 30 s', () => {
  const busy: Health = { failures: 0, slots: 64, rest: undefined }
  const health = after(
    busy,
    Array.from({ length: 64 }, () => failed),
  )
  assert.deepEqual(health, { failures: failuresToOpen, slots: 1, rest: seconds(30) })
})

test('the longer rest holds: what the endpoint asks for, or what its failures do', () => {
  const overloaded = { result: 'overloaded', retryAfter: minutes(20) } as const
  assert.equal(after(healthAtStart(0), [overloaded]).rest, minutes(20))
  assert.equal(after(healthAtStart(0), [overloaded, failed, delivered]).rest, minutes(20))
  assert.equal(after(healthAtStart(20), [{ ...overloaded, retryAfter: 5 }]).rest, minutes(15))
})

test('requests at the same time: one more with each success, half after a failure', () => {
  const up = after(healthAtStart(3), [delivered, delivered, delivered, delivered])
  assert.deepEqual(up, { failures: 0, slots: 5, rest: undefined })
  assert.equal(after(up, [failed]).slots, 2)
  assert.equal(after(up, [failed, failed, failed]).slots, 1)
  assert.equal(healthAfter({ ...up, slots: 4 }, delivered, 4).slots, 4)
})
