import { systemClock } from './clock.ts'
import { createDeadlines, type Deadlines } from './deadlines.ts'
import type { Duration } from './duration.ts'

/** One timer for all that have the same limit, of which there are few. */
const deadlines = new Map<Duration, Deadlines<() => void>>()

function deadlinesOf(limit: Duration): Deadlines<() => void> {
  const known = deadlines.get(limit) ?? createDeadlines<() => void>(limit, (expire) => expire())
  deadlines.set(limit, known)
  return known
}

const expiries = new WeakMap<AbortSignal, () => void>()

/**
 * Aborts a signal of `within` whose time is up by either clock. A process that stood still, or whose
 * machine slept, goes on with its work before any timer fires: so call this right before what must
 * not happen late.
 */
export function expireIfLate(signal: AbortSignal | undefined): void {
  if (signal !== undefined) expiries.get(signal)?.()
}

/**
 * Runs `work` for at most `limit`: then its signal aborts and `late()` is thrown, whether the work
 * heeds the signal or not.
 */
export async function within<T>(
  limit: Duration,
  late: () => Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abort = new AbortController()
  const over = Promise.withResolvers<never>()
  const expire = () => {
    const error = late()
    abort.abort(error)
    over.reject(error)
  }
  const begun = performance.now()
  const begunAt = systemClock().getTime()
  expiries.set(abort.signal, () => {
    const hasPassed = (since: number, now: number) => now - since > limit
    if (hasPassed(begun, performance.now()) || hasPassed(begunAt, systemClock().getTime())) expire()
  })
  const waiting = deadlinesOf(limit)
  const deadline = waiting.add(expire)
  try {
    return await Promise.race([work(abort.signal), over.promise])
  } finally {
    waiting.delete(deadline)
  }
}
