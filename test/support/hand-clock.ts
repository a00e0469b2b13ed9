import type { TestContext } from 'node:test'

/** A clock for what takes how long: it stands until it is moved on. */
export function handClock(t: TestContext): { pass(ms: number): void } {
  let now = performance.now()
  t.mock.method(performance, 'now', () => now)
  return { pass: (ms) => void (now += ms) }
}
