import { createDeadlines, type Deadlines } from './deadlines.ts'
import type { Duration } from './duration.ts'

/** One timer for all that have the same limit, of which there are few. */
const deadlines = new Map<Duration, Deadlines<() => void>>()

function deadlinesOf(limit: Duration): Deadlines<() => void> {
  const known = deadlines.get(limit) ?? createDeadlines<() => void>(limit, (expire) => expire())
  deadlines.set(limit, known)
  return known
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
  const waiting = deadlinesOf(limit)
  const deadline = waiting.add(expire)
  try {
    return await Promise.race([work(abort.signal), over.promise])
  } finally {
    waiting.delete(deadline)
  }
}
