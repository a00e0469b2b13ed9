import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pendingPayment } from '../../test/support/pending-payment.ts'
import { days, hours, minutes } from '../kernel/duration.ts'
import { nextPoll, nextPollAfterFailure } from './poll-schedule.ts'

const handedAt = new Date('2026-11-20T12:00:00Z')
const after = (age: number) => new Date(handedAt.getTime() + age)
const payment = pendingPayment({ gateway: 'x', handedAt, expiresAt: after(days(1)) })
const waitAt = (age: number, fields: Partial<typeof payment> = {}, isUndecided = false) => {
  const now = after(age)
  const asked = { now, retryWindow: days(3), isUndecided }
  const next = nextPoll({ payment: { ...payment, ...fields }, ...asked })
  return next === null ? null : next / minutes(1)
}

test('the older a payment is, the rarer its provider is asked', () => {
  const waits = [5, 59, 60, 359, 360, 1439, 1440].map((age) =>
    waitAt(minutes(age), { expiresAt: after(days(2)) }),
  )
  assert.deepEqual(waits, [6, 6, 30, 30, 120, 120, 360])
})

test('a callback lost within the first hour is found within ten minutes, the schedule included', () => {
  const tick = 2
  for (let paidAt = 0; paidAt < 60; paidAt += 1) {
    let at = 5 + tick
    while (at < paidAt) at += (waitAt(minutes(at)) ?? 0) + tick
    assert.ok(at - paidAt <= 10, `paid after ${paidAt} min, found after ${at}`)
  }
})

test('a payment is polled once its checkout has ended for long enough to write it off', () => {
  const second = 1 / 60
  // By a gateway that repeats no callbacks.
  const wait = (age: number, end: number, fields: Partial<typeof payment> = {}) => {
    const polled = { ...payment, expiresAt: after(end), ...fields }
    const asked = { now: after(age), retryWindow: 0, isUndecided: false }
    const next = nextPoll({ payment: polled, ...asked })
    return next === null ? null : next / minutes(1)
  }
  assert.equal(wait(minutes(5), minutes(1)), 6)
  assert.equal(wait(minutes(11), minutes(1)), 5 + second)
  assert.equal(wait(minutes(17), minutes(1)), 1440)
  assert.equal(wait(hours(23), days(1)), 75 + second)
  assert.equal(wait(days(3), days(3) + hours(1)), 75 + second)
  // It may be paid, and nobody waits for its end.
  assert.equal(wait(hours(23), days(1), { status: 'failed' }), 120)
})

test('the last question comes after the last repetition of a callback could have come', () => {
  assert.equal(waitAt(days(4), { status: 'failed' }), 360)
  assert.equal(waitAt(days(4) + 1, { status: 'failed' }), null)
  assert.equal(waitAt(days(4) + 1, { status: 'canceled' }), null)
})

test('what is pending even then has not been decided, and is polled every day', () => {
  assert.equal(waitAt(days(4)), 360)
  assert.equal(waitAt(days(4) + 1), 1440)
  assert.equal(waitAt(days(90)), 1440)
})

test('declined and canceled payments are polled as well, paid ones and unsent ones are not', () => {
  assert.equal(waitAt(hours(2), { status: 'failed' }), 30)
  assert.equal(waitAt(hours(2), { status: 'canceled' }), 30)
  assert.equal(waitAt(hours(2), { status: 'paid' }), null)
  assert.equal(waitAt(hours(2), { handedAt: null }), null)
})

test('a checkout without an end is polled for a month', () => {
  assert.equal(waitAt(days(33), { expiresAt: null }), 360)
  assert.equal(waitAt(days(33) + 1, { expiresAt: null }), null)
})

test('one without an end that somebody may have paid is polled until it is decided', () => {
  assert.equal(waitAt(days(33) + 1, { expiresAt: null }, true), 1440)
  assert.equal(waitAt(days(90), { expiresAt: null }, true), 1440)
  assert.equal(waitAt(days(90), { expiresAt: null, status: 'failed' }, true), null)
})

test('after a failure it is asked again within half an hour, and never given up', () => {
  const waits = [minutes(5), hours(2), days(3), days(90)].map((age) => {
    const now = after(age)
    return nextPollAfterFailure(payment, now) / minutes(1)
  })
  assert.deepEqual(waits, [6, 30, 30, 30])
})

test('the age is counted from the handing over, and until then from the making', () => {
  const made = { ...payment, createdAt: after(-hours(2)) }
  assert.equal(nextPollAfterFailure(made, after(0)), minutes(6))
  assert.equal(nextPollAfterFailure({ ...made, handedAt: null }, after(0)), minutes(30))
})
