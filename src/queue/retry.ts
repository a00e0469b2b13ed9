import { minutes, seconds, type Duration } from '../kernel/duration.ts'

/** Attempts of a job that threw, whatever queue carries it. */
export const callAttempts = 3

const backoffs: readonly Duration[] = [seconds(10), seconds(60)]

/** What follows a failed attempt: another one after a wait, or none. */
export type NextTry =
  | { readonly kind: 'retry'; readonly after: Duration }
  | { readonly kind: 'give_up'; readonly after?: undefined }

/** `attempt`: the one that just failed, counted from 1. */
export function nextTry(attempt: number, attempts: number): NextTry {
  if (attempt >= attempts) return { kind: 'give_up' }
  return { kind: 'retry', after: backoffs[attempt - 1] ?? minutes(1) }
}

/** After this many returns without an attempt, the next one counts as an attempt. */
const returnsBeforeAttempt = 20

/** Deadlocks, lost connections and the like are nobody's fault, unless they never end. */
export function mayReturn({ times_returned }: { readonly times_returned: number }): boolean {
  return times_returned < returnsBeforeAttempt
}

/** A short wait, longer the more often it happened, and random so that rivals separate. */
export function returnDelay(timesReturned: number, random: () => number): Duration {
  const ceiling = Math.min(200 * 2 ** timesReturned, seconds(30))
  return Math.round(ceiling * (0.5 + random() / 2))
}
