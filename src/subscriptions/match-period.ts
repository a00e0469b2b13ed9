import { days, type Duration } from '../kernel/duration.ts'
import type { StatedPeriod } from '../payments/outcome.ts'
import type { SubscriptionPeriod } from './period.ts'

/** A period of time, both ends known. */
export type Time = Pick<SubscriptionPeriod, 'startsAt' | 'endsAt'>

/** How far a provider's boundary may be from ours: the lesser of a day and a quarter of the period. */
export function tolerance({ startsAt, endsAt }: Time): Duration {
  return Math.min(days(1), (endsAt.getTime() - startsAt.getTime()) / 4)
}

/**
 * The period for sale that a provider means by this time: by its start, or by its end where it states
 * no start. The nearest, if it is near enough; null: none is.
 */
export function periodOfTime(
  periods: readonly SubscriptionPeriod[],
  stated: StatedPeriod,
): SubscriptionPeriod | null {
  const near = periods
    .filter((period) => isForSale(period) && !isSoldAfter(period, stated))
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

/**
 * What begins after a paid period has, and ends after it, is sold anew, however soon: a month that is
 * made a year on its first day. Where only the end has moved, the provider gives more of it.
 */
function isSoldAfter(period: SubscriptionPeriod, { startsAt, endsAt }: StatedPeriod): boolean {
  if (period.state !== 'paid' || startsAt === undefined || endsAt === undefined) return false
  const isLonger = endsAt.getTime() - period.endsAt.getTime() > tolerance(period)
  return isLonger && startsAt > period.startsAt
}

/** Of two that are as near, one that is not void. */
function byState(one: { period: SubscriptionPeriod }, other: { period: SubscriptionPeriod }) {
  return Number(one.period.state === 'void') - Number(other.period.state === 'void')
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
