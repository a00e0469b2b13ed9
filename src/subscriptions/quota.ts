import type { Interval } from './subscription.ts'

/** How much of something may be used in each window of a subscription. */
export interface QuotaTerms {
  /** Null: as much as you like; it is counted, and no limit is ever reached. */
  readonly limit: bigint | null
  /** How long a window is; null: the period that is paid. */
  readonly every: Interval | null
  /** UsageLimitReached fires at these per cent of the limit, ascending. */
  readonly percents: readonly number[]
}

export const quotaName = /^[a-z0-9_.-]{1,64}$/

/** A window: `endsAt` is exclusive. */
export interface QuotaWindow {
  /**
   * The period of the subscription that it is; null: it has a length of its own. The provider may
   * correct the start and the end of a period, but not which period it is.
   */
  readonly periodId: string | null
  readonly startsAt: Date
  readonly endsAt: Date
}

/** What was used of a quota in the window that was counted in last. */
export interface QuotaCounter extends QuotaTerms {
  readonly subscriptionId: string
  readonly quota: string
  /** Windows of its own length are counted from here, in this time zone. */
  readonly anchorAt: Date
  readonly timeZone: string
  readonly used: bigint
  /** Null: none has begun yet, for no period has been paid. */
  readonly window: QuotaWindow | null
  /** The highest of its per cents that was reached in this window; 0: none. */
  readonly reached: number
  /** The number of its last event: those of one quota are dispatched in this order. */
  readonly eventNumber: bigint
  /** When to look whether its window is over, if nobody has by then; null: never. */
  readonly lookAt: Date | null
}

/** What an event of a quota stores. */
export type QuotaEvent =
  | { readonly type: 'SubscriptionQuotaReset'; readonly data: QuotaResetData }
  | { readonly type: 'UsageLimitReached'; readonly data: LimitReachedData }

export interface QuotaResetData {
  readonly quota: string
  readonly limit: bigint | null
  /** In the window before. */
  readonly used: bigint
  readonly windowStartsAt: Date
  readonly windowEndsAt: Date | null
}

export interface LimitReachedData {
  readonly quota: string
  readonly limit: bigint
  /** By the record that reached it. */
  readonly used: bigint
  readonly percent: number
}

/** An event that fired, and its claim. */
export type FiredQuotaEvent = QuotaEvent & {
  readonly subscriptionId: string
  readonly dedupKey: string
  readonly number: bigint
}

/** A counter, and the events that led to how it is. */
export interface MovedCounter {
  readonly counter: QuotaCounter
  readonly events: readonly FiredQuotaEvent[]
}

/** What is left of the limit; null: there is none. Nothing, until a window has begun. */
export function leftOf({
  limit,
  used,
  window,
}: Pick<QuotaCounter, 'limit' | 'used' | 'window'>): bigint | null {
  if (limit === null) return null
  return window !== null && used < limit ? limit - used : 0n
}

/** Fires an event of a quota, after all that it has fired before. */
export function firedFor({ counter, events }: MovedCounter, event: QuotaEvent): MovedCounter {
  const { subscriptionId } = counter
  const number = counter.eventNumber + 1n
  const fired = { ...event, subscriptionId, dedupKey: keyOf(event, counter, number), number }
  return { counter: { ...counter, eventNumber: number }, events: [...events, fired] }
}

/**
 * The counter is locked and keeps what was reached, so a number is given once. The window is no name:
 * a quota that is taken away and given again in one period, or counted by other windows for a while,
 * begins anew within the same.
 */
function keyOf(
  { type }: QuotaEvent,
  { subscriptionId, quota }: QuotaCounter,
  number: bigint,
): string {
  const kind = type === 'SubscriptionQuotaReset' ? 'reset' : 'reached'
  return `quota:${kind}:${subscriptionId}/${quota}/${number}`
}
