/// <reference lib="esnext.temporal" />
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { boundary, periodAt, periodToOpen, type Cadence } from './boundary.ts'
import { intervalUnits, type Interval } from './subscription.ts'

// `Temporal`, which Node 26 has, says what is right; the product cannot use it yet.

const zones = Intl.supportedValuesOf('timeZone')

const every = (unit: Interval['unit'], count = 1): Interval => ({ unit, count })

function cadence(anchor: string, timeZone: string, interval: Interval): Cadence {
  const zoned = Temporal.PlainDateTime.from(anchor).toZonedDateTime(timeZone)
  return { anchorAt: new Date(zoned.epochMilliseconds), every: interval, timeZone }
}

function expected({ anchorAt, every: { unit, count }, timeZone }: Cadence, n: number): Date {
  const anchor = Temporal.Instant.fromEpochMilliseconds(anchorAt.getTime())
  const later = anchor.toZonedDateTimeISO(timeZone).add({ [`${unit}s`]: count * n })
  return new Date(later.epochMilliseconds)
}

const local = (time: Date, timeZone: string) =>
  Temporal.Instant.fromEpochMilliseconds(time.getTime()).toZonedDateTimeISO(timeZone).toString({
    timeZoneName: 'never',
  })

const locally = (of: Cadence, numbers: readonly number[]) =>
  numbers.map((n) => local(boundary(of, n), of.timeZone))

const meanDays = { day: 1, week: 7, month: 365.2425 / 12, year: 365.2425 }

/** A boundary up to 50 years after its anchor, or 20 before. Apia left out its day before 2012. */
const numbered: fc.Arbitrary<readonly [Cadence, number]> = fc
  .record({
    anchorAt: fc.date({
      min: new Date('2032-01-01'),
      max: new Date('2060-01-01'),
      noInvalidDate: true,
    }),
    unit: fc.constantFrom(...intervalUnits),
    count: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 366 })),
    timeZone: fc.constantFrom(...zones),
    days: fc.integer({ min: -7300, max: 18262 }),
  })
  .map(({ anchorAt, unit, count, timeZone, days }) => [
    { anchorAt, every: every(unit, count), timeZone },
    // Not the negative zero.
    Math.round(days / (meanDays[unit] * count)) || 0,
  ])

test('case 1: anchors at 28 to 31 and 29 Feb never drift, in any zone, for 50 years', () => {
  const anchors = ['2027-01-28', '2027-01-29', '2026-12-30', '2026-10-31', '2028-02-29']
  zones.forEach((timeZone, index) => {
    for (const [at, day] of anchors.entries()) {
      // Another time of day in each zone, and every month of 50 years over the zones together.
      const time = Temporal.PlainTime.from('00:00').add({ minutes: 97 * index + 180 * at })
      const monthly = cadence(`${day}T${time.toString()}`, timeZone, every('month'))
      const yearly = { ...monthly, every: every('year') }
      for (let n = (index + at) % 12; n <= 600; n += 12 + 1) {
        assert.deepEqual(boundary(monthly, n), expected(monthly, n), `${timeZone} ${day} ${n}`)
      }
      for (let n = index % 3; n <= 50; n += 3) {
        assert.deepEqual(boundary(yearly, n), expected(yearly, n), `${timeZone} ${day} ${n}`)
      }
    }
  })
})

test('case 1: any interval in any zone is what the calendar says, before and after the anchor', () => {
  fc.assert(
    fc.property(numbered, ([of, n]) => {
      assert.deepEqual(boundary(of, n), expected(of, n))
    }),
    { numRuns: 3000 },
  )
})

test('case 1: the 31st is the last day of a shorter month, and comes back', () => {
  const monthly = cadence('2027-12-31T09:00', 'Europe/Kyiv', every('month'))
  assert.deepEqual(
    locally(monthly, [0, 1, 2, 3, 4, 12]).map((text) => text.slice(0, 16)),
    [
      '2027-12-31T09:00',
      '2028-01-31T09:00',
      '2028-02-29T09:00',
      '2028-03-31T09:00',
      '2028-04-30T09:00',
      '2028-12-31T09:00',
    ],
  )
  const leapDay = cadence('2028-02-29T09:00', 'UTC', every('year'))
  assert.deepEqual(
    locally(leapDay, [1, 3, 4]).map((text) => text.slice(0, 10)),
    ['2029-02-28', '2031-02-28', '2032-02-29'],
  )
})

test('case 2: a time of day that summer time skips is later by what it skips, for that day alone', () => {
  const kyiv = cadence('2026-03-28T03:30', 'Europe/Kyiv', every('day'))
  assert.deepEqual(locally(kyiv, [0, 1, 2]), [
    '2026-03-28T03:30:00+02:00',
    '2026-03-29T04:30:00+03:00',
    '2026-03-30T03:30:00+03:00',
  ])
  const juneau = cadence('2026-02-08T02:00', 'America/Juneau', every('month'))
  assert.deepEqual(locally(juneau, [0, 1, 2]), [
    '2026-02-08T02:00:00-09:00',
    '2026-03-08T03:00:00-08:00',
    '2026-04-08T02:00:00-08:00',
  ])
  const lordHowe = cadence('2026-09-27T02:15', 'Australia/Lord_Howe', every('week'))
  assert.deepEqual(locally(lordHowe, [0, 1, 2]), [
    '2026-09-27T02:15:00+10:30',
    '2026-10-04T02:45:00+11:00',
    '2026-10-11T02:15:00+11:00',
  ])
})

test('case 2: a time of day that comes twice is the first', () => {
  const kyiv = cadence('2026-10-24T03:30', 'Europe/Kyiv', every('day'))
  assert.deepEqual(locally(kyiv, [0, 1, 2]), [
    '2026-10-24T03:30:00+03:00',
    '2026-10-25T03:30:00+03:00',
    '2026-10-26T03:30:00+02:00',
  ])
  const juneau = cadence('2025-11-01T01:00', 'America/Juneau', every('year'))
  assert.deepEqual(locally(juneau, [0, 1, 2]), [
    '2025-11-01T01:00:00-08:00',
    '2026-11-01T01:00:00-08:00',
    '2027-11-01T01:00:00-08:00',
  ])
  const lordHowe = cadence('2027-03-28T01:45', 'Australia/Lord_Howe', every('week'))
  assert.deepEqual(locally(lordHowe, [0, 1, 2]), [
    '2027-03-28T01:45:00+11:00',
    '2027-04-04T01:45:00+11:00',
    '2027-04-11T01:45:00+10:30',
  ])
})

test('case 2: the times around every change of a clock are right, to the millisecond', () => {
  for (const timeZone of ['Europe/Kyiv', 'America/Juneau', 'Australia/Lord_Howe']) {
    let change = Temporal.ZonedDateTime.from(`2026-01-01T00:00[${timeZone}]`)
    for (let count = 0; count < 8; count += 1) {
      change = change.getTimeZoneTransition('next') ?? assert.fail(timeZone)
      for (const minutes of [-61, -60, -31, -30, -1, 0, 1, 29, 30, 31, 59, 60, 61]) {
        for (const milliseconds of [-1, 0, 1]) {
          const wall = change.toPlainDateTime().add({ minutes }).add({ milliseconds })
          const of = cadence(wall.subtract({ weeks: 3 }).toString(), timeZone, every('week'))
          assert.deepEqual(boundary(of, 3), expected(of, 3), `${timeZone} ${wall.toString()}`)
        }
      }
    }
  }
})

test('an anchor within an hour that comes twice is the first boundary all the same', () => {
  const anchorAt = new Date('2026-10-25T01:30:00Z')
  assert.equal(local(anchorAt, 'Europe/Kyiv'), '2026-10-25T03:30:00+02:00')
  const daily = { anchorAt, every: every('day'), timeZone: 'Europe/Kyiv' }
  assert.deepEqual(boundary(daily, 0), anchorAt)
  assert.deepEqual(boundary(daily, 1), new Date('2026-10-26T01:30:00Z'))
})

test('case 2: Apia left out a day: no period is lost but one that never was', () => {
  const daily = cadence('2011-12-28T10:00', 'Pacific/Apia', every('day'))
  const numbers = [0, 1, 2, 3, 4]
  assert.deepEqual(locally(daily, numbers), [
    '2011-12-28T10:00:00-10:00',
    '2011-12-29T10:00:00-10:00',
    '2011-12-31T10:00:00+14:00',
    '2011-12-31T10:00:00+14:00',
    '2012-01-01T10:00:00+14:00',
  ])
  for (const n of numbers) assert.deepEqual(boundary(daily, n), expected(daily, n))
  // 24 hours each, without a gap.
  assert.equal(periodAt(daily, boundary(daily, 1)).n, 1)
  assert.equal(periodAt(daily, boundary(daily, 2)).n, 3)
  const opened = periodToOpen(daily, { n: 2, startsAt: boundary(daily, 2) }, new Date(0))
  assert.deepEqual(opened, {
    n: 3,
    startsAt: boundary(daily, 2),
    endsAt: boundary(daily, 4),
    skipped: 1,
  })
  const monthly = cadence('2011-11-30T10:00', 'Pacific/Apia', every('month'))
  assert.deepEqual(locally(monthly, [1, 2]), [
    '2011-12-31T10:00:00+14:00',
    '2012-01-30T10:00:00+14:00',
  ])
})

test('boundaries rise with their number', () => {
  fc.assert(
    fc.property(numbered, ([of, n]) => {
      assert.ok(boundary(of, n) < boundary(of, n + 1))
    }),
    { numRuns: 2000 },
  )
})

test('the period that a time is in is found, at its first millisecond and its last', () => {
  fc.assert(
    fc.property(numbered, ([of, n]) => {
      const period = { n, startsAt: boundary(of, n), endsAt: boundary(of, n + 1) }
      const last = new Date(period.endsAt.getTime() - 1)
      assert.deepEqual(periodAt(of, period.startsAt), period)
      assert.deepEqual(periodAt(of, last), period)
    }),
    { numRuns: 2000 },
  )
})

test('a time long after the anchor is found in a few steps', () => {
  const anchor = cadence('1971-01-31T00:30', 'Europe/Kyiv', every('day'))
  for (const unit of intervalUnits) {
    for (let n = 0; n < 100; n += 1) {
      let reads = 0
      const counted: Cadence = {
        ...anchor,
        every: every(unit),
        get anchorAt() {
          reads += 1
          return anchor.anchorAt
        },
      }
      periodAt(counted, new Date(Date.UTC(2070, n, n)))
      assert.ok(reads <= 5, `${unit} ${n}: ${reads}`)
    }
  }
})

const weekly = cadence('2026-11-02T09:00', 'Europe/Kyiv', every('week'))

test('the next period begins where the one before ended; its own end is by the calendar', () => {
  const startsAt = boundary(weekly, 4)
  const next = { n: 4, startsAt, endsAt: boundary(weekly, 5), skipped: 0 }
  for (const now of [weekly.anchorAt, startsAt, new Date(next.endsAt.getTime() - 1)]) {
    assert.deepEqual(periodToOpen(weekly, { n: 4, startsAt }, now), next)
  }
})

test('whole periods that went by are skipped, and counted', () => {
  const startsAt = boundary(weekly, 4)
  assert.deepEqual(periodToOpen(weekly, { n: 4, startsAt }, boundary(weekly, 5)), {
    n: 5,
    startsAt: boundary(weekly, 5),
    endsAt: boundary(weekly, 6),
    skipped: 1,
  })
  const late = new Date(boundary(weekly, 4000).getTime() + 1)
  assert.deepEqual(periodToOpen(weekly, { n: 4, startsAt }, late), {
    n: 4000,
    startsAt: boundary(weekly, 4000),
    endsAt: boundary(weekly, 4001),
    skipped: 3996,
  })
})

test('where the rules of a zone changed meanwhile, no period is opened twice, and none is lost', () => {
  for (const shift of [-3_600_000, 3_600_000]) {
    const startsAt = new Date(boundary(weekly, 4).getTime() + shift)
    const next = { n: 4, startsAt, endsAt: boundary(weekly, 5), skipped: 0 }
    assert.deepEqual(periodToOpen(weekly, { n: 4, startsAt }, startsAt), next)
  }
})
