import assert from 'node:assert/strict'
import { test } from 'node:test'
import { together } from './together.ts'

/** Runs of numbers: an odd one fails by itself, 13 for all. */
function runs(count: number) {
  const batches: (readonly number[])[] = []
  const add = together(count, async (items: readonly number[]) => {
    batches.push(items)
    if (items.includes(13)) throw new Error('all fail')
    return Promise.allSettled(
      items.map(async (item) => {
        if (item % 2 === 1) throw new Error(`${item} fails`)
        return item * 10
      }),
    )
  })
  return { batches, add }
}

test('items that come together run together; each has its own end', async () => {
  const { batches, add } = runs(3)
  const ends = await Promise.allSettled([add(2), add(3), add(4)])
  assert.deepEqual(batches, [[2, 3, 4]])
  assert.deepEqual(
    ends.map((end) => (end.status === 'fulfilled' ? end.value : String(end.reason))),
    [20, 'Error: 3 fails', 40],
  )
})

test('an item that never comes keeps the others waiting for a moment only', async () => {
  const { batches, add } = runs(4)
  assert.deepEqual(await Promise.all([add(2), add(4)]), [20, 40])
  assert.equal(await add(6), 60)
  assert.deepEqual(batches, [[2, 4], [6]])
})

test('what fails, fails for all that run together, and for no other', async () => {
  const { add } = runs(4)
  const [first, second] = await Promise.allSettled([add(2), add(13)])
  assert.deepEqual([first.status, second.status], ['rejected', 'rejected'])
  assert.deepEqual(await Promise.all([add(4), add(6)]), [40, 60])
})
