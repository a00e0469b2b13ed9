import type { TestContext } from 'node:test'
import { seconds } from '../../src/kernel/duration.ts'

/** What an endpoint's sender believes of its lease, it believes for less than this. */
const longerThanTrusted = seconds(1)

/** The clock that lengths are measured by. It runs, and goes ahead when it is told to. */
export function runningClock(t: TestContext) {
  const clock = performance.now.bind(performance)
  let ahead = 0
  t.mock.method(performance, 'now', () => clock() + ahead)
  return {
    /** From now on whoever sends asks again whether the endpoint is still as it was. */
    endTrust: () => void (ahead += longerThanTrusted),
  }
}
