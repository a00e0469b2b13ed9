import { days, minutes, seconds, type Duration } from '../kernel/duration.ts'
import type { StatedPeriod } from '../payments/outcome.ts'
import type { SubscriptionPeriod } from './period.ts'

/** A period of time, both ends known. */
export type Time = Pick<SubscriptionPeriod, 'startsAt' | 'endsAt'>

/** How far a provider's boundary may be from ours: the lesser of a day and a quarter of the period. */
export function tolerance({ startsAt, endsAt }: Time): Duration {
  return Math.min(days(1), (endsAt.getTime() - startsAt.getTime()) / 4)
}

/** How far two statements of one boundary may be apart. */
const clocksApart: Duration = minutes(5)

/** The time, if both of its ends are stated. */
export function timeOf({ startsAt, endsAt }: StatedPeriod): Time | null {
  if (startsAt === undefined || endsAt === undefined || endsAt <= startsAt) return null
  return { startsAt, endsAt }
}

/** A charge, as far as it says what it is for. */
export interface StatedCharge {
  readonly stated: StatedPeriod
  readonly amount: bigint
}

/**
 * The period for sale that a charge is for: by its start, or by its end where it states no start. A
 * paid one is meant only if the charge repeats its sale; another time, or within minutes another
 * amount, is a sale of its own, as when a plan is changed on its first day. Else the nearest unpaid
 * one, if it is near enough. Null: none is.
 */
export function periodOfCharge(
  periods: readonly SubscriptionPeriod[],
  { stated, amount }: StatedCharge,
): SubscriptionPeriod | null {
  const repeated = periods.find((period) => {
    if (!isForSale(period) || period.state !== 'paid' || period.isTimeAssumed) return false
    const isNear = farthest(period, stated) <= clocksApart && period.amount === amount
    return isNear || beginsAsStated(period, stated)
  })
  return repeated ?? unpaidPeriodOf(periods, stated)
}

/**
 * The period for sale that a provider says it is in. A paid one has the same boundaries, or the same
 * start: its provider may move its end. Where its time is assumed, it is paid within the time that is
 * stated. Else the nearest unpaid one, if it is near enough. Null: none is.
 */
export function periodOfTime(
  periods: readonly SubscriptionPeriod[],
  stated: Time,
): SubscriptionPeriod | null {
  const paid = periods.filter((period) => isForSale(period) && period.state === 'paid')
  const told = paid.find((period) => {
    if (period.isTimeAssumed) return false
    return farthest(period, stated) <= clocksApart || beginsAsStated(period, stated)
  })
  const assumed = paid.find(
    ({ isTimeAssumed, startsAt }) =>
      isTimeAssumed &&
      stated.startsAt.getTime() - startsAt.getTime() <= clocksApart &&
      startsAt < stated.endsAt,
  )
  return told ?? assumed ?? unpaidPeriodOf(periods, stated)
}

function unpaidPeriodOf(
  periods: readonly SubscriptionPeriod[],
  stated: StatedPeriod,
): SubscriptionPeriod | null {
  const near = periods
    .filter((period) => isForSale(period) && period.state !== 'paid')
    .map((period) => ({ period, distance: distanceOf(period, stated) }))
    .filter(({ period, distance }) => distance <= tolerance(period))
    .toSorted((one, other) => one.distance - other.distance || byState(one, other))
  return near[0]?.period ?? null
}

/**
 * Whether this time is given without money. A trial that is cut short begins where the first period
 * does, or nearly so: both ends tell them apart.
 */
export function isGiven(periods: readonly SubscriptionPeriod[], stated: StatedPeriod): boolean {
  const { startsAt, endsAt } = stated
  return periods.some(
    (period) =>
      !isForSale(period) &&
      distanceOf(period, { ...(startsAt && { startsAt }) }) <= tolerance(period) &&
      distanceOf(period, { ...(endsAt && { endsAt }) }) <= tolerance(period),
  )
}

/** Of two that are as near, one that is not void. */
function byState(one: { period: SubscriptionPeriod }, other: { period: SubscriptionPeriod }) {
  return Number(one.period.state === 'void') - Number(other.period.state === 'void')
}

/** At the same second: providers count in them. Its end may have been moved since. */
export function beginsAsStated(period: Time, { startsAt, endsAt }: StatedPeriod): boolean {
  const stated = startsAt === undefined ? endsAt && { endsAt } : { startsAt }
  return farthest(period, stated ?? {}) < seconds(1)
}

/** How far the boundaries that are stated are from those of the period. */
function farthest({ startsAt, endsAt }: Time, stated: StatedPeriod): Duration {
  const apart = (ours: Date, time: Date | undefined) =>
    time === undefined ? [] : [Math.abs(ours.getTime() - time.getTime())]
  const distances = [...apart(startsAt, stated.startsAt), ...apart(endsAt, stated.endsAt)]
  return distances.length === 0 ? Infinity : Math.max(...distances)
}

function distanceOf(period: SubscriptionPeriod, { startsAt, endsAt }: StatedPeriod): Duration {
  const apart = (ours: Date, stated: Date) => Math.abs(ours.getTime() - stated.getTime())
  if (startsAt !== undefined) return apart(period.startsAt, startsAt)
  return endsAt === undefined ? Infinity : apart(period.endsAt, endsAt)
}

/** What a charge is for that does not say so: the earliest unpaid period that it is not too late for. */
export function earliestUnpaid(
  periods: readonly SubscriptionPeriod[],
  chargedAt: Date,
): SubscriptionPeriod | null {
  const unpaid = periods.filter(
    (period) =>
      isForSale(period) &&
      (period.state === 'open' || period.state === 'void') &&
      period.endsAt.getTime() - chargedAt.getTime() > tolerance(period),
  )
  const [first] = unpaid.toSorted((a, b) => a.startsAt.getTime() - b.startsAt.getTime())
  return first ?? null
}

/** Not given without money: not a trial, nor brought along. */
export function isForSale({ kind }: SubscriptionPeriod): boolean {
  return kind === 'paid'
}
