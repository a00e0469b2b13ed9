import { minutes, seconds } from '../kernel/duration.ts'
import { periodAt } from './boundary.ts'
import { firedFor, type MovedCounter } from './quota-events.ts'
import type { QuotaCounter, QuotaWindow } from './quota.ts'

/** What the window of a quota hangs on, besides its counter. */
export interface WindowFacts {
  /** The granted period with the latest start that has begun; null: none has. */
  readonly period: QuotaWindow | null
  /** The subscription is over: no window follows. */
  readonly hasEnded: boolean
}

/** A window that begins later than this was made by a clock that was wrong. */
const clocksApart = minutes(5)

/** Whether it has to be asked which window a time is in. */
export function isOver({ window }: Pick<QuotaCounter, 'window'>, now: Date): boolean {
  return window === null || now >= window.endsAt || !hasBegun(window, now)
}

function hasBegun({ startsAt }: QuotaWindow, now: Date): boolean {
  return startsAt.getTime() <= now.getTime() + clocksApart
}

/** Whether both are the same window, whose start or end may have been corrected. */
function isSameWindow(one: QuotaWindow, other: QuotaWindow): boolean {
  if (one.periodId !== null && one.periodId === other.periodId) return true
  return one.startsAt.getTime() === other.startsAt.getTime()
}

function hasSameEnds(one: QuotaWindow, other: QuotaWindow): boolean {
  const times = ({ startsAt, endsAt }: QuotaWindow) => `${startsAt.getTime()} ${endsAt.getTime()}`
  return one.periodId === other.periodId && times(one) === times(other)
}

/**
 * The counter in the window that `now` is in, nothing used in it yet. Of several that went by since,
 * only that one begins. Where no period was paid after the one that it counts in, it goes on
 * counting there: what is not paid gives no new quota. A period that is found late, and begins
 * before the one that it counts in, gives none either.
 */
export function inWindowOf(counter: QuotaCounter, facts: WindowFacts, now: Date): MovedCounter {
  const same = { counter, events: [] }
  // The rules of a time zone may have changed since it began.
  if (counter.every !== null && !isOver(counter, now)) return same
  const window = facts.hasEnded ? null : windowAt(counter, facts, now)
  if (window === null) return same
  const { window: before } = counter
  const looking = { ...counter, window, lookAt: window.endsAt }
  if (before !== null && isSameWindow(before, window)) {
    return hasSameEnds(before, window) ? same : { counter: looking, events: [] }
  }
  if (before !== null && window.startsAt < before.startsAt && hasBegun(before, now)) return same
  const begun = { counter: { ...looking, used: 0n, reached: 0 }, events: [] }
  if (before === null) return begun
  return resetOf(begun, counter, window)
}

/** Says that a window of a counter has begun, and what was used in the one before. */
export function resetOf(
  begun: MovedCounter,
  { used }: Pick<QuotaCounter, 'used'>,
  { startsAt: windowStartsAt, endsAt: windowEndsAt }: QuotaWindow,
): MovedCounter {
  const { quota, limit } = begun.counter
  const data = { quota, limit, used, windowStartsAt, windowEndsAt }
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
  return { periodId: null, startsAt, endsAt }
}
