import * as field from '../kernel/noun.ts'
import { listOf, orNull, type Values } from '../kernel/noun.ts'
import { intervalFields } from './subscription.ts'

export const quotaTermsFields = {
  /** Null: as much as you like; it is counted, and no limit is ever reached. */
  limit: orNull(field.units()),
  /** How long a window is; null: the period that is paid. */
  every: orNull(field.part(intervalFields)),
  /** UsageLimitReached fires at these per cent of the limit, ascending. */
  percents: listOf(field.count()),
}

/** How much of something may be used in each window of a subscription. */
export interface QuotaTerms extends Values<typeof quotaTermsFields> {}

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

/** What is left of the limit; null: there is none. Nothing, until a window has begun. */
export function leftOf({
  limit,
  used,
  window,
}: Pick<QuotaCounter, 'limit' | 'used' | 'window'>): bigint | null {
  if (limit === null) return null
  return window !== null && used < limit ? limit - used : 0n
}
