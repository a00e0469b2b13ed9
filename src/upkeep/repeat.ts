import type { Duration } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'

/**
 * Runs at once and then repeatedly, never twice at the same time. Returns what ends it, after the
 * run that is under way.
 */
export function repeat(every: Duration, log: Log, work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  const tick = () => {
    running ??= work()
      .catch((error: unknown) => log.error({ err: error }, 'upkeep failed; it will be tried again'))
      .finally(() => {
        running = undefined
      })
  }
  const timer = setInterval(tick, every)
  tick()
  return async () => {
    clearInterval(timer)
    await running
  }
}
