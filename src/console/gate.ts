import pLimit from 'p-limit'
import { seconds, type Duration } from '../kernel/duration.ts'

/** Callbacks never wait for the console: so many of its requests ask the database at a time. */
const mostAtOnce = 4
const longestWait: Duration = seconds(1)

/** Does the work once there is a place for it; undefined: there was none for so long. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T | undefined>

export function createGate(): Gate {
  const limit = pLimit(mostAtOnce)
  return async (work) => {
    const latest = performance.now() + longestWait
    return limit(async () => (performance.now() > latest ? undefined : work()))
  }
}
