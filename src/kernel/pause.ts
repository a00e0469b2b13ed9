import type { Duration } from './duration.ts'

/**
 * Resolves after that time. It reads the global `setTimeout` when it is called, which a test may
 * replace: the one of `node:timers/promises` stays the real one.
 */
export function pause(time: Duration): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, time)
  })
}
