import { minutes, seconds } from '../kernel/duration.ts'
import { periodAt } from './boundary.ts'
import { firedFor, type MovedCounter, type QuotaCounter, type QuotaWindow } from './quota.ts'

/** What the window of a quota hangs on, besides its counter. */
export interface WindowFacts {
  /** The last granted period that has begun; null: none has. */
  readonly period: QuotaWindow | null
  /** The subscription is over: no window follows. */
  readonly hasEnded: boolean
}

/** A window that begins later than this was made by a clock that was wrong. */
const clocksApart = minutes(5)

/** Whether it has to be asked which window a time is in. */
export function isOver({ window }: Pick<QuotaCounter, 'window'>, now: Date): boolean {
  if (window === null || now >= window.endsAt) return true
  return window.startsAt.getTime() > now.getTime() + clocksApart
}

/**
 * The counter in the window that `now` is in, nothing used in it yet. Of several that went by since,
 * only that one begins. Where no period was paid after the one that it counts in, it goes on
 * counting there: what is not paid gives no new quota.
 */
export function inWindowOf(counter: QuotaCounter, facts: WindowFacts, now: Date): MovedCounter {
  const same = { counter, events: [] }
  // The rules of a time zone may have changed since it began.
  if (counter.every !== null && !isOver(counter, now)) return same
  const window = facts.hasEnded ? null : windowAt(counter, facts, now)
  if (window === null) return same
  const { window: before } = counter
  const looking = { ...counter, window, lookAt: window.endsAt }
  if (before?.startsAt.getTime() === window.startsAt.getTime()) {
    // The end of a trial may have been moved.
    const isMoved = before.endsAt.getTime() !== window.endsAt.getTime()
    return isMoved ? { counter: looking, events: [] } : same
  }
  const begun = { counter: { ...looking, used: 0n, reached: 0 }, events: [] }
  if (before === null) return begun
  const { quota, limit } = counter
  const data = { quota, limit, windowEndsAt: window.endsAt }
  return firedFor(begun, { type: 'SubscriptionQuotaReset', data })
}

/**
 * When to look again for the window after one that is over: soon at first, for the payment may be
 * under way. Null: never.
 */
export function nextLook(
  { window, anchorAt }: Pick<QuotaCounter, 'window' | 'anchorAt'>,
  { hasEnded }: Pick<WindowFacts, 'hasEnded'>,
  now: Date,
): Date | null {
  if (hasEnded) return null
  if (window !== null && now < window.endsAt) return window.endsAt
  const over = now.getTime() - (window?.endsAt ?? anchorAt).getTime()
  return new Date(now.getTime() + Math.min(longestWait, Math.max(shortestWait, over / 4)))
}

const shortestWait = seconds(2)
const longestWait = minutes(5)

/** Null: none. */
export function windowAt(
  { every, anchorAt, timeZone }: Pick<QuotaCounter, 'every' | 'anchorAt' | 'timeZone'>,
  { period }: Pick<WindowFacts, 'period'>,
  now: Date,
): QuotaWindow | null {
  if (every === null) return period
  const { startsAt, endsAt } = periodAt({ anchorAt, every, timeZone }, now)
  return { startsAt, endsAt }
}
