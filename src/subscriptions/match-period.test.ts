import assert from 'node:assert/strict'
import { test } from 'node:test'
import { subscriptionOf } from '../../test/support/subscriptions.ts'
import { days, hours, minutes, seconds, type Duration } from '../kernel/duration.ts'
import { unpaidPeriodAt, isGiven, periodOfCharge, periodOfTime } from './match-period.ts'
import type { StatedPeriod } from '../payments/outcome.ts'
import { newPeriod } from './open-period.ts'
import type { SubscriptionPeriod } from './period.ts'

const start = new Date('2026-03-01T12:00:00Z')
const after = (from: Date, length: Duration) => new Date(from.getTime() + length)

function periodOf(length: Duration, fields: Partial<SubscriptionPeriod> = {}): SubscriptionPeriod {
  const time = { number: 1, startsAt: start, endsAt: after(start, length) }
  return { ...newPeriod(subscriptionOf(), time), ...fields }
}

function charged(
  periods: readonly SubscriptionPeriod[],
  stated: StatedPeriod,
  amount = 1n,
): SubscriptionPeriod | null {
  return periodOfCharge(periods, { stated, amount })
}

for (const [length, most] of [
  [days(31), days(1)],
  [days(1), hours(6)],
] as const) {
  const size = `${length / hours(1)} h`
  test(`a boundary of an unpaid period of ${size} may be ${most / hours(1)} h off, and no millisecond more`, () => {
    const period = periodOf(length)
    const { startsAt, endsAt } = period
    for (const sign of [-1, 1]) {
      for (const [off, found] of [
        [most, period],
        [most + 1, null],
      ] as const) {
        const by = sign * off
        const given = { startsAt: after(startsAt, by), endsAt: after(endsAt, by) }
        assert.equal(periodOfTime([period], given), found)
        assert.equal(charged([period], { startsAt: given.startsAt }), found)
        assert.equal(charged([period], { endsAt: given.endsAt }), found)
        assert.equal(isGiven([{ ...period, kind: 'trial' }], given), found !== null)
      }
    }
  })
}

test('a paid period is meant by its own start and its own boundaries, give or take a clock', () => {
  const period = periodOf(days(30), { state: 'paid' })
  const { startsAt, endsAt, amount } = period
  const later = (by: Duration) => ({ startsAt: after(startsAt, by), endsAt: after(endsAt, by) })
  const year = { startsAt, endsAt: after(startsAt, days(365)) }
  assert.equal(charged([period], later(0), amount + 1n), period)
  assert.equal(charged([period], year, amount + 1n), period)
  assert.equal(charged([period], { startsAt }), period)
  assert.equal(charged([period], { endsAt }), period)
  assert.equal(charged([period], later(minutes(5)), amount), period)
  assert.equal(charged([period], later(seconds(1)), amount + 1n), null)
  assert.equal(charged([period], later(minutes(5) + 1), amount), null)
  assert.equal(
    charged([period], { startsAt: after(startsAt, seconds(1)), endsAt: year.endsAt }),
    null,
  )
  assert.equal(periodOfTime([period], later(minutes(5))), period)
  assert.equal(periodOfTime([period], later(minutes(5) + 1)), null)
  assert.equal(periodOfTime([period], year), period)
  assert.equal(periodOfTime([period], { ...year, startsAt: after(startsAt, seconds(1)) }), null)
})

test('a period whose time is assumed is the one that it was paid in, and no charge repeats it', () => {
  const period = periodOf(days(30), { state: 'paid', isTimeAssumed: true })
  const from = (startsAt: Date) => ({ startsAt, endsAt: after(startsAt, days(30)) })
  assert.equal(periodOfTime([period], from(start)), period)
  assert.equal(periodOfTime([period], from(after(start, -days(29)))), period)
  assert.equal(periodOfTime([period], from(after(start, -days(30)))), null)
  assert.equal(periodOfTime([period], from(after(start, minutes(5)))), period)
  assert.equal(periodOfTime([period], from(after(start, minutes(5) + 1))), null)
  assert.equal(charged([period], from(start)), null)
})

test('of two periods the nearest is meant; of two as near the one that was not given up', () => {
  const first = periodOf(days(1))
  const second = { ...first, id: 'second', startsAt: after(start, hours(4)) }
  assert.equal(charged([first, second], { startsAt: after(start, hours(3)) }), second)
  const givenUp = { ...first, id: 'void', state: 'void' } as const
  assert.equal(charged([givenUp, first], { startsAt: start }), first)
  assert.equal(charged([givenUp], { startsAt: start }), givenUp)
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
  assert.equal(unpaidPeriodAt(periods, inTime), first)
  assert.equal(unpaidPeriodAt(periods, after(inTime, 1)), second)
  assert.equal(unpaidPeriodAt([paid], start), null)
})
