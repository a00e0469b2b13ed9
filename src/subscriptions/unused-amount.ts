import type { PeriodState } from './period.ts'

/** What the unused part of a subscription's price hangs on: `subscriptions.get` gives it. */
export interface PaidTime {
  readonly endedAt: Date | null
  /** The granted period with the latest start; null: none was granted. */
  readonly currentPeriod: PaidPeriod | null
}

/** A period and its price. */
export interface PaidPeriod {
  readonly state: PeriodState
  readonly startsAt: Date
  /** Exclusive. */
  readonly endsAt: Date
  /** In minor units. */
  readonly amount: bigint
}

/**
 * What of the current period's price is for the time after `now`, in minor units: what a merchant
 * may refund who lets a customer go, or change, within it. By the millisecond, rounded down. Once
 * the subscription has ended, its end counts. What was not paid for leaves nothing.
 */
export function unusedAmount({ endedAt, currentPeriod }: PaidTime, now: Date): bigint {
  if (currentPeriod?.state !== 'paid') return 0n
  const { startsAt, endsAt, amount } = currentPeriod
  const at = Math.min(now.getTime(), endedAt?.getTime() ?? Infinity)
  const left = Math.max(endsAt.getTime() - Math.max(at, startsAt.getTime()), 0)
  return (amount * BigInt(left)) / BigInt(endsAt.getTime() - startsAt.getTime())
}
