import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { gather } from '../../src/worker/gather.ts'

interface Run {
  readonly batch: readonly string[]
  end(left?: readonly string[]): void
  fail(error: Error): void
}

/** Batches that end when the test says so; the key of an item is its first letter. */
function gathering(options: {
  readonly slots: number
  readonly most: number
  readonly patience?: number
}) {
  const runs: Run[] = []
  const hand = gather<string, string>({
    slots: options.slots,
    most: () => options.most,
    keysOf: ([first = '']) => [first],
    goesAlone: (item) => item.endsWith('!'),
    patience: options.patience ?? 60_000,
    overdue: async (item) => `${item} overdue`,
    run: (batch) =>
      new Promise((resolve, reject) => {
        const end = (left: readonly string[] = []) => {
          const ended = batch.filter((item) => !left.includes(item))
          resolve(new Map(ended.map((item) => [item, `${item} done`])))
        }
        runs.push({ batch, end, fail: reject })
      }),
  })
  return { runs, hand, batches: () => runs.map(({ batch }) => batch) }
}

test('what comes while a batch is under way makes the next one', async () => {
  const { runs, hand, batches } = gathering({ slots: 1, most: 10 })
  const results = Promise.all(['a', 'b', 'c'].map(hand))
  assert.deepEqual(batches(), [['a']])
  runs[0]?.end()
  await turn()
  assert.deepEqual(batches(), [['a'], ['b', 'c']])
  runs[1]?.end()
  assert.deepEqual(await results, ['a done', 'b done', 'c done'])
})

test('a batch holds no more than it may', async () => {
  const { runs, hand, batches } = gathering({ slots: 1, most: 2 })
  for (const item of ['a', 'b', 'c', 'd']) void hand(item)
  runs[0]?.end()
  await turn()
  assert.deepEqual(batches(), [['a'], ['b', 'c']])
})

test('items with one key are never under way at the same time, and hold up no others', async () => {
  const { runs, hand, batches } = gathering({ slots: 2, most: 10 })
  for (const item of ['a1', 'a2', 'b1', 'a3']) void hand(item)
  assert.deepEqual(batches(), [['a1'], ['b1']])
  runs[1]?.end()
  await turn()
  assert.equal(runs.length, 2)
  runs[0]?.end()
  await turn()
  assert.deepEqual(batches().at(-1), ['a2'])
  runs[2]?.end()
  await turn()
  assert.deepEqual(batches().at(-1), ['a3'])
})

test('a batch that rejects frees its slot and its keys', async () => {
  const { runs, hand, batches } = gathering({ slots: 1, most: 10 })
  const first = hand('a1')
  void hand('a2')
  runs[0]?.fail(new Error('gone'))
  await assert.rejects(first, /gone/)
  assert.deepEqual(batches(), [['a1'], ['a2']])
})

test('what a batch leaves goes on first, each by itself, before others of its key', async () => {
  const { runs, hand, batches } = gathering({ slots: 1, most: 10 })
  for (const item of ['a', 'b1', 'c1', 'd']) void hand(item)
  runs[0]?.end()
  await turn()
  void hand('c2')
  void hand('e')
  runs[1]?.end(['b1', 'c1'])
  for (const at of [2, 3, 4]) {
    await turn()
    runs[at]?.end()
  }
  assert.deepEqual(batches(), [['a'], ['b1', 'c1', 'd'], ['b1'], ['c1'], ['c2', 'e']])
})

test('an item that goes alone shares its batch with nobody', async () => {
  const { runs, hand, batches } = gathering({ slots: 1, most: 10 })
  for (const item of ['a', 'b', 'c!', 'd', 'e']) void hand(item)
  for (const at of [0, 1, 2]) {
    runs[at]?.end()
    await turn()
  }
  assert.deepEqual(batches(), [['a'], ['b', 'd', 'e'], ['c!']])
})

test('an item waits for another of its key only so long; for a slot it waits on', async () => {
  const { runs, hand } = gathering({ slots: 1, most: 10, patience: 50 })
  void hand('a1')
  const refusals = hand('a2')
  const waiting = hand('b1')
  assert.equal(await refusals, 'a2 overdue')
  runs[0]?.end()
  await turn()
  runs[1]?.end()
  assert.equal(await waiting, 'b1 done')
})
