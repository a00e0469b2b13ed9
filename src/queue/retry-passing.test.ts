import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retryPassing } from './retry-passing.ts'

/** What the server says of a deadlock. */
const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01', severity: 'ERROR' })

/** Work that fails so often, and how often it was tried. */
function failing(times: number, error: unknown) {
  const made = { tries: 0 }
  const work = async () => {
    made.tries += 1
    if (made.tries <= times) throw error
    return 'done'
  }
  return { made, work }
}
/** As short as a wait can be. */
const shortest = () => -1

test('what passes is tried again, five times in all', async () => {
  const passing = failing(4, deadlock)
  assert.equal(await retryPassing(passing.work, shortest), 'done')
  assert.equal(passing.made.tries, 5)
  const lasting = failing(5, deadlock)
  await assert.rejects(retryPassing(lasting.work, shortest), deadlock)
  assert.equal(lasting.made.tries, 5)
})

test('any other error is final', async () => {
  const broken = new Error('no such column')
  const { made, work } = failing(1, broken)
  await assert.rejects(retryPassing(work, shortest), broken)
  assert.equal(made.tries, 1)
})

test('what succeeds is done once', async () => {
  const { made, work } = failing(0, deadlock)
  assert.equal(await retryPassing(work, shortest), 'done')
  assert.equal(made.tries, 1)
})
