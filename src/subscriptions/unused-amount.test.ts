import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { days } from '../kernel/duration.ts'
import { largestAmount } from '../kernel/money.ts'
import { periodStates } from './period.ts'
import { unusedAmount, type PaidTime } from './unused-amount.ts'

const startsAt = new Date('2026-11-01T00:00:00Z')
const day = (count: number) => new Date(startsAt.getTime() + days(count))

const period = { state: 'paid', startsAt, endsAt: day(30), amount: 1000n, currency: 'EUR' } as const
const unusedOn = (count: number, fields: Partial<PaidTime> = {}) =>
  unusedAmount({ currency: 'EUR', endedAt: null, periods: [period], ...fields }, day(count))

test('what is unused of a period is its price for the time left, rounded down', () => {
  assert.equal(unusedOn(0), 1000n)
  assert.equal(unusedOn(10), 666n)
  assert.equal(unusedOn(15), 500n)
  assert.equal(unusedOn(29), 33n)
})

test('nothing is left from the end on; all of a period that has not begun', () => {
  assert.equal(unusedOn(30), 0n)
  assert.equal(unusedOn(31), 0n)
  assert.equal(unusedOn(-1), 1000n)
})

test('once the subscription has ended, the time of its end counts', () => {
  assert.equal(unusedOn(20, { endedAt: day(15) }), 500n)
  assert.equal(unusedOn(31, { endedAt: day(15) }), 500n)
  assert.equal(unusedOn(15, { endedAt: day(15) }), 500n)
  assert.equal(unusedOn(15, { endedAt: day(20) }), 500n)
})

test('only what was paid leaves something', () => {
  for (const state of periodStates.filter((one) => one !== 'paid')) {
    assert.equal(unusedOn(10, { periods: [{ ...period, state }] }), 0n, state)
  }
  assert.equal(unusedOn(10, { periods: [] }), 0n)
})

test('every paid period counts that is not over, also one that is paid ahead or overlaps', () => {
  const ahead = { ...period, startsAt: day(30), endsAt: day(60) }
  const over = { ...period, startsAt: day(-30), endsAt: day(0) }
  assert.equal(unusedOn(15, { periods: [over, period, ahead, { ...period, amount: 10n }] }), 1505n)
  assert.equal(unusedOn(15, { periods: [period, { ...period, currency: 'USD' }] }), 500n)
})

test('it is never more than the price and never grows, and no part of it is lost to rounding', () => {
  const length = fc.integer({ min: 1, max: days(366 * 366) })
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: largestAmount }),
      length,
      fc.tuple(length, length),
      (amount, milliseconds, [one, other]) => {
        const endsAt = new Date(startsAt.getTime() + milliseconds)
        const unusedAfter = (time: number) =>
          unusedAmount(
            { currency: 'EUR', endedAt: null, periods: [{ ...period, amount, endsAt }] },
            new Date(startsAt.getTime() + time),
          )
        const [early, late] = [Math.min(one, other), Math.max(one, other)]
        assert.ok(unusedAfter(early) <= amount)
        assert.ok(unusedAfter(late) <= unusedAfter(early))
        if (early <= milliseconds) {
          const left = amount * BigInt(milliseconds - early)
          assert.ok(unusedAfter(early) * BigInt(milliseconds) <= left)
          assert.ok((unusedAfter(early) + 1n) * BigInt(milliseconds) > left)
        }
      },
    ),
  )
})
