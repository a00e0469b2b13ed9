import assert from 'node:assert/strict'
import { test } from 'node:test'
import { subscriptionOf } from '../../test/support/subscriptions.ts'
import { days, hours, type Duration } from '../kernel/duration.ts'
import { earliestUnpaid, isGiven, periodOfTime } from './match-period.ts'
import { newPeriod } from './open-period.ts'
import type { SubscriptionPeriod } from './period.ts'

const start = new Date('2026-03-01T12:00:00Z')
const after = (from: Date, length: Duration) => new Date(from.getTime() + length)

function periodOf(length: Duration, fields: Partial<SubscriptionPeriod> = {}): SubscriptionPeriod {
  const time = { number: 1, startsAt: start, endsAt: after(start, length) }
  return { ...newPeriod(subscriptionOf(), time), ...fields }
}

for (const [length, most] of [
  [days(31), days(1)],
  [days(1), hours(6)],
] as const) {
  const size = `${length / hours(1)} h`
  test(`a boundary of a period of ${size} may be ${most / hours(1)} h off, and no millisecond more`, () => {
    const period = periodOf(length)
    const { startsAt, endsAt } = period
    for (const sign of [-1, 1]) {
      for (const [off, found] of [
        [most, period],
        [most + 1, null],
      ] as const) {
        const by = sign * off
        assert.equal(periodOfTime([period], { startsAt: after(startsAt, by) }), found)
        assert.equal(periodOfTime([period], { endsAt: after(endsAt, by) }), found)
        const given = { startsAt: after(startsAt, by), endsAt: after(endsAt, by) }
        assert.equal(isGiven([{ ...period, kind: 'trial' }], given), found !== null)
      }
    }
  })
}

test('of two periods the nearest is meant; of two as near the one that was not given up', () => {
  const first = periodOf(days(1))
  const second = { ...first, id: 'second', startsAt: after(start, hours(4)) }
  assert.equal(periodOfTime([first, second], { startsAt: after(start, hours(3)) }), second)
  const givenUp = { ...first, id: 'void', state: 'void' } as const
  assert.equal(periodOfTime([givenUp, first], { startsAt: start }), first)
  assert.equal(periodOfTime([givenUp], { startsAt: start }), givenUp)
})

test('a charge without a time is for the earliest unpaid period that is not almost over', () => {
  const first = periodOf(days(31), { state: 'void' })
  const second = {
    ...periodOf(days(31)),
    startsAt: first.endsAt,
    endsAt: after(first.endsAt, days(31)),
  }
  const paid = periodOf(days(31), { state: 'paid', startsAt: after(start, -days(31)) })
  const periods = [second, paid, first]
  const inTime = after(first.endsAt, -days(1) - 1)
  assert.equal(earliestUnpaid(periods, inTime), first)
  assert.equal(earliestUnpaid(periods, after(inTime, 1)), second)
  assert.equal(earliestUnpaid([paid], start), null)
})
