import type { Duration } from './duration.ts'

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
  const timer = setTimeout(() => {
    const error = late()
    abort.abort(error)
    over.reject(error)
  }, limit)
  try {
    return await Promise.race([work(abort.signal), over.promise])
  } finally {
    clearTimeout(timer)
  }
}
