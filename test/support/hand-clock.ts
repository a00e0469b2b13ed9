import type { TestContext } from 'node:test'

/**
 * A clock for what takes how long: it stands until it is moved on. It begins at a whole number, so that
 * sums of whole milliseconds are exact.
 */
export function handClock(t: TestContext): { pass(ms: number): void } {
  let now = Math.ceil(performance.now())
  t.mock.method(performance, 'now', () => now)
  return { pass: (ms) => void (now += ms) }
}
