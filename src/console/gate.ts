import { setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'
import { seconds, type Duration } from '../kernel/duration.ts'

/** Callbacks never wait for the console: so much of its work asks the database at a time. */
const mostAtOnce = 4
const longestWait: Duration = seconds(1)

/** Does the work once there is a place for it; what `busy` says if there was none for so long. */
export type Gate<Busy> = <T>(work: () => Promise<T>) => Promise<T | Busy>

/** What waits is answered in time even where all that is under way hangs. */
export function createGate<Busy>(busy: () => Promise<Busy>): Gate<Busy> {
  const limit = pLimit(mostAtOnce)
  return async (work) => {
    let isGone = false
    const begun = new AbortController()
    const done = limit(async () => {
      if (isGone) return busy()
      begun.abort()
      return work()
    })
    const late = pause(longestWait, undefined, { ref: false, signal: begun.signal }).then(
      () => {
        isGone = true
        return busy()
      },
      () => done,
    )
    return Promise.race([done, late])
  }
}
