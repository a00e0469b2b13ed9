import { daysLater } from '../kernel/wall-time.ts'

/** What the notices of an end hang on. */
export interface NoticeFacts {
  readonly startsAt: Date
  /** The end that is announced: of a trial or of a period. */
  readonly end: Date
  /** Days before the end, in any order. */
  readonly leadDays: readonly number[]
  /** In whose days they are counted. */
  readonly timeZone: string
  /** The number of the notice of this end that fired last; null: none has. */
  readonly lastNotice: number | null
}

/**
 * The number of the notice that is to fire now: 1 has the shortest lead. Numbers only fall, so a
 * changed lead repeats none; of several that are due the last one fires alone, so downtime sends one
 * or none.
 */
export function dueNotice(facts: NoticeFacts, now: Date): number | null {
  if (now >= facts.end) return null
  return noticesLeft(facts).find(({ at }) => at <= now)?.number ?? null
}

/** When the next notice is to fire, `now` if that is at once; null: none is left. */
export function nextNoticeAt(facts: NoticeFacts, now: Date): Date | null {
  if (now >= facts.end) return null
  if (dueNotice(facts, now) !== null) return now
  return noticesLeft(facts).at(-1)?.at ?? null
}

interface Notice {
  readonly number: number
  readonly at: Date
}

/** The notices that have not fired and are not behind one that has; the last one first. */
function noticesLeft(facts: NoticeFacts): readonly Notice[] {
  const { startsAt, end, leadDays, lastNotice, timeZone } = facts
  return [...new Set(leadDays)]
    .sort((one, other) => one - other)
    .map((lead) => daysLater(end, -lead, timeZone))
    .filter((at) => at > startsAt)
    .map((at, index) => ({ number: index + 1, at }))
    .filter(({ number }) => lastNotice === null || number < lastNotice)
}
