import { days, minutes, seconds, type Duration } from '../kernel/duration.ts'
import type { StatedPeriod } from '../payments/outcome.ts'
import type { SubscriptionPeriod } from './period.ts'

/** A period of time, both ends known. */
export type Time = Pick<SubscriptionPeriod, 'startsAt' | 'endsAt'>

/** How far a provider's boundary may be from ours: the lesser of a day and a quarter of the period. */
export function tolerance({ startsAt, endsAt }: Time): Duration {
  return Math.min(days(1), lengthOf({ startsAt, endsAt }) / 4)
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
  const assumed = paid.find((period) => period.isTimeAssumed && isFirstOf(period, stated))
  return told ?? assumed ?? unpaidPeriodOf(periods, stated)
}

/** How long after its checkout was made a first period may begin. */
const checkoutLife: Duration = days(2)

/**
 * Whether this is the time of a first period that was counted from when it was charged, or from when
 * that became known: a time that begins before, and is as long. What begins later is another sale.
 */
function isFirstOf(period: SubscriptionPeriod, stated: Time): boolean {
  const { startsAt, nominalStartsAt } = period
  const begins = stated.startsAt.getTime()
  const length = lengthOf(period)
  return (
    begins - startsAt.getTime() <= clocksApart &&
    startsAt < stated.endsAt &&
    begins - nominalStartsAt.getTime() <= checkoutLife &&
    Math.abs(lengthOf(stated) - length) <= length / 4
  )
}

function lengthOf({ startsAt, endsAt }: Time): Duration {
  return endsAt.getTime() - startsAt.getTime()
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

/**
 * What a charge is for that does not say so: an unpaid period that had begun when it was charged, and
 * was not over; the open one first. Of what was given up, the earliest that was not almost over.
 */
export function unpaidPeriodAt(
  periods: readonly SubscriptionPeriod[],
  chargedAt: Date,
): SubscriptionPeriod | null {
  const at = chargedAt.getTime()
  const unpaid = periods.filter((period) => {
    if (!isForSale(period) || !isUnpaid(period)) return false
    const left = period.endsAt.getTime() - at
    const hasBegun = period.startsAt.getTime() - at <= tolerance(period)
    return hasBegun && left > (period.state === 'open' ? 0 : tolerance(period))
  })
  const [first] = unpaid.toSorted(
    (a, b) => byState({ period: a }, { period: b }) || a.startsAt.getTime() - b.startsAt.getTime(),
  )
  return first ?? null
}

function isUnpaid({ state }: SubscriptionPeriod): boolean {
  return state === 'open' || state === 'void'
}

/** Not given without money: not a trial, nor brought along. */
export function isForSale({ kind }: SubscriptionPeriod): boolean {
  return kind === 'paid'
}
