import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { expireIfLate, within } from './within.ts'

const limit = 60_000
/** How each clock goes on while no timer fires. */
const clocks = {
  'the clock of the process': (t: TestContext, passed: number) => {
    const now = performance.now()
    t.mock.method(performance, 'now', () => now + passed)
  },
  'the time of day': (t: TestContext, passed: number) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + passed })
  },
}

for (const [clock, goOn] of Object.entries(clocks)) {
  test(`what is late is ended before a timer fires, by ${clock}`, async (t) => {
    const late = () => new Error('late')
    const ended = within(limit, late, async (signal) => {
      expireIfLate(signal)
      assert.equal(signal.aborted, false)
      goOn(t, limit + 1)
      assert.equal(signal.aborted, false)
      expireIfLate(signal)
      signal.throwIfAborted()
    })
    await assert.rejects(ended, /late/)
  })
}

test('a signal of somebody else, or none, is left alone', () => {
  const { signal } = new AbortController()
  expireIfLate(signal)
  expireIfLate(undefined)
  assert.equal(signal.aborted, false)
})
