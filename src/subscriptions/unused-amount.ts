import type { Money } from '../kernel/money.ts'
import type { PeriodState } from './period.ts'

/** What the unused part of what was paid hangs on: `subscriptions.get` gives it. */
export interface PaidTime {
  readonly currency: string
  readonly endedAt: Date | null
  readonly periods: readonly PaidPeriod[]
}

/** A period and its price, in minor units. */
export interface PaidPeriod extends Money {
  readonly state: PeriodState
  readonly startsAt: Date
  /** Exclusive. */
  readonly endsAt: Date
}

/**
 * What of the price of all paid periods is for the time after `now`, in minor units: what a merchant
 * may refund to a customer who leaves early. Only periods in the subscription's currency count; each
 * by the millisecond, rounded down. Once the subscription has ended, its end counts.
 */
export function unusedAmount({ currency, endedAt, periods }: PaidTime, now: Date): bigint {
  const at = Math.min(now.getTime(), endedAt?.getTime() ?? Infinity)
  const paid = periods.filter((one) => one.state === 'paid' && one.currency === currency)
  return paid.reduce((sum, period) => sum + unusedOf(period, at), 0n)
}

function unusedOf({ startsAt, endsAt, amount }: PaidPeriod, at: number): bigint {
  const left = Math.max(endsAt.getTime() - Math.max(at, startsAt.getTime()), 0)
  return (amount * BigInt(left)) / BigInt(endsAt.getTime() - startsAt.getTime())
}
