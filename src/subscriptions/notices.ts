import { days, type Duration } from '../kernel/duration.ts'

/** What the notices of an end hang on. */
export interface NoticeFacts {
  readonly startsAt: Date
  /** The end that is announced: of a trial or of a period. */
  readonly end: Date
  /** Days before the end, in any order. */
  readonly leadDays: readonly number[]
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
function noticesLeft({ startsAt, end, leadDays, lastNotice }: NoticeFacts): readonly Notice[] {
  const length: Duration = end.getTime() - startsAt.getTime()
  return [...new Set(leadDays)]
    .sort((one, other) => one - other)
    .filter((lead) => days(lead) < length)
    .map((lead, index) => ({ number: index + 1, at: new Date(end.getTime() - days(lead)) }))
    .filter(({ number }) => lastNotice === null || number < lastNotice)
}
