import { days } from '../kernel/duration.ts'
import { timeOfWall, wallTime, type WallTime } from '../kernel/wall-time.ts'
import type { Interval, IntervalUnit } from './subscription.ts'

/** What the boundaries of periods are counted by. */
export interface Cadence {
  readonly anchorAt: Date
  readonly every: Interval
  /** An IANA name. */
  readonly timeZone: string
}

/** The period between the boundaries `n` and `n + 1`. */
export interface PeriodTime {
  readonly n: number
  readonly startsAt: Date
  /** Exclusive, and later. */
  readonly endsAt: Date
}

/**
 * Where the interval `n` begins: the anchor's wall clock, `n` intervals on. It is never counted from
 * the boundary before, so the 31st comes back after a February. A day that a month lacks is its last
 * one. Boundaries rise with `n`, but for one case: where a zone leaves out a whole day (Samoa,
 * 2011-12-30), a daily one has two at the same time, and the period between them never is.
 */
export function boundary({ anchorAt, every, timeZone }: Cadence, n: number): Date {
  // The anchor may be within an hour that the clocks show twice.
  if (n === 0) return anchorAt
  const wall = laterWall(wallTime(anchorAt.getTime(), timeZone), every, n)
  return new Date(timeOfWall(wall, timeZone))
}

/** Mean lengths: a boundary is days from its mean at most, so less than a period of the unit. */
const meanDays: Readonly<Record<IntervalUnit, number>> = {
  day: 1,
  week: 7,
  month: 365.2425 / 12,
  year: 365.2425,
}

/** The period that a time is in, found without walking there; `n` is negative before the anchor. */
export function periodAt(cadence: Cadence, time: Date): PeriodTime {
  const { anchorAt, every } = cadence
  const length = days(meanDays[every.unit] * every.count)
  // By its mean length a period may seem to have begun that has not.
  let n = Math.floor((time.getTime() - anchorAt.getTime()) / length) - 1
  let startsAt = boundary(cadence, n)
  let endsAt = boundary(cadence, n + 1)
  while (endsAt <= time) {
    n += 1
    startsAt = endsAt
    endsAt = boundary(cadence, n + 1)
  }
  return { n, startsAt, endsAt }
}

/**
 * The period to open after one that ends at `startsAt`, which is the boundary `n`: that period, or
 * the one that `now` is in, if whole periods have gone by since. It begins where the one before
 * ended, also if the rules of the zone have changed meanwhile and would have it an hour off.
 */
export function periodToOpen(
  cadence: Cadence,
  { n, startsAt }: Pick<PeriodTime, 'n' | 'startsAt'>,
  now: Date,
): PeriodTime & { readonly skipped: number } {
  const from = new Date(Math.max(now.getTime(), startsAt.getTime()))
  const latest = periodAt(cadence, from)
  if (latest.n > n) return { ...latest, skipped: latest.n - n }
  return { n, startsAt, endsAt: boundary(cadence, n + 1), skipped: 0 }
}

const monthsOf = { month: 1, year: 12 } as const
const daysOf = { day: 1, week: 7 } as const

function laterWall(wall: WallTime, { unit, count }: Interval, n: number): WallTime {
  return unit === 'month' || unit === 'year'
    ? addMonths(wall, monthsOf[unit] * count * n)
    : wall + days(daysOf[unit] * count * n)
}

function addMonths(wall: WallTime, months: number): WallTime {
  const date = new Date(wall)
  const dayOfMonth = date.getUTCDate()
  date.setUTCMonth(date.getUTCMonth() + months)
  // A day that the month lacks has become one of the next month: back to the last one before it.
  if (date.getUTCDate() !== dayOfMonth) date.setUTCDate(0)
  return date.getTime()
}
