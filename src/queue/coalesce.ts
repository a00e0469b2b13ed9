import type { Duration } from '../kernel/duration.ts'
import { pause } from '../kernel/pause.ts'

/**
 * One at a time, started at most once per `every`. However many ask meanwhile, one more run serves
 * all of them. Resolves for each caller with a run that started after it asked.
 */
export function coalesce(work: () => Promise<unknown>, every: Duration) {
  let current: Promise<unknown> | undefined
  let next: Promise<unknown> | undefined
  const start = () => {
    const done = work()
    current = Promise.allSettled([done, pause(every)]).then(() => {
      current = undefined
    })
    return done
  }
  const follow = async (running: Promise<unknown>) => {
    await running
    next = undefined
    await start()
  }
  return {
    ask(): Promise<unknown> {
      if (next !== undefined) return next
      if (current === undefined) return start()
      next = follow(current)
      return next
    },
    async ended(): Promise<void> {
      while (next !== undefined || current !== undefined) {
        await Promise.allSettled([next, current])
      }
    },
  }
}
