import { daysLater } from '../kernel/wall-time.ts'

/** What the attempts of a period hang on, once it was declined. */
export interface RetryFacts {
  /** The first decline: everything is counted from it, so a late worker stretches nothing. */
  readonly firstFailedAt: Date
  /** Days from the first decline to each further attempt. */
  readonly retryDays: readonly number[]
  /** The end of the period: nothing is charged for time that is over. */
  readonly endsAt: Date
  /** In whose days they are counted: customers are told the date. */
  readonly timeZone: string
}

/** When a declined period is charged again; its first attempt is not among them. */
export function retryTimes(facts: RetryFacts): readonly Date[] {
  const { firstFailedAt, retryDays, endsAt, timeZone } = facts
  return [...new Set(retryDays)]
    .sort((one, other) => one - other)
    .map((after) => daysLater(firstFailedAt, after, timeZone))
    .filter((at) => at < endsAt)
}

/**
 * The next attempt after a decline; null: that was the last. Attempts whose time went by meanwhile
 * are left out, not made up for: several in a row would only annoy the bank.
 */
export function nextRetryAt(facts: RetryFacts, declinedAt: Date): Date | null {
  return retryTimes(facts).find((at) => at > declinedAt) ?? null
}

/** When dunning is over at the latest, also where the card must not be charged again. */
export function dunningEndsAt(facts: RetryFacts): Date {
  return retryTimes(facts).at(-1) ?? facts.firstFailedAt
}
