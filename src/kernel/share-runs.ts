import type { Duration } from './duration.ts'
import { pause } from './pause.ts'

export interface SharedRuns<T> {
  /** The result of a run that begins after the question. */
  ask(key?: string): Promise<T>
  /** Resolves once no run is under way or asked for. */
  ended(): Promise<void>
}

interface Run<T> {
  /** It has ended, and the time until the next one is over. Never rejects. */
  readonly over: Promise<unknown>
  next: Promise<T> | undefined
}

/**
 * Runs one thing at a time for each key. All who ask during a run share the next one, so nobody gets
 * an answer from before the question. Runs of a key begin at least `every` apart.
 */
export function shareRuns<T>(run: (key: string) => Promise<T>, every: Duration = 0): SharedRuns<T> {
  const underWay = new Map<string, Run<T>>()
  // A `run` that throws at once must not keep the next run from beginning.
  const safely = async (key: string) => run(key)
  const begin = (key: string) => {
    const result = safely(key)
    const apart = every === 0 ? undefined : pause(every)
    const own: Run<T> = {
      over: Promise.allSettled([result, apart]).then(() => {
        if (own.next === undefined) underWay.delete(key)
      }),
      next: undefined,
    }
    underWay.set(key, own)
    return result
  }
  return {
    ask(key = '') {
      const current = underWay.get(key)
      if (current === undefined) return begin(key)
      current.next ??= current.over.then(() => begin(key))
      return current.next
    },
    async ended() {
      while (underWay.size > 0) {
        await Promise.allSettled(Array.from(underWay.values(), ({ over, next }) => next ?? over))
      }
    },
  }
}
