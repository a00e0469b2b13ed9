import { seconds, type Duration } from '../kernel/duration.ts'

/** The waits between the three attempts of a job that throws. */
const backoffs: readonly Duration[] = [seconds(10), seconds(60)]

/**
 * How long after a failed attempt the next one follows; undefined: none does. `attempt`: the one
 * that just failed, counted from 1.
 */
export function retryDelay(attempt: number): Duration | undefined {
  return backoffs[attempt - 1]
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
