import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { gather } from '../../../src/worker/gather.ts'

interface Run {
  readonly batch: readonly string[]
  end(left?: readonly string[]): void
  fail(error: Error): void
}

/** What ends in one turn is seen in the next, and the next batch begins at the end of that. */
async function turns(): Promise<void> {
  await endOfTurn()
  await endOfTurn()
}

/** Batches that end when the test says so; the keys of an item are its letters. */
function gathering(options: {
  readonly slots: number
  readonly most: number
  readonly patience?: number
}) {
  const runs: Run[] = []
  const hand = gather<string, string>({
    slots: options.slots,
    most: () => options.most,
    keysOf: (item) => item.match(/[a-z]/g) ?? [],
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

test('what comes within a turn goes together; what comes while a batch is under way, in the next', async () => {
  const { runs, hand, batches } = gathering({ slots: 1, most: 10 })
  const first = Promise.all(['a', 'b'].map(hand))
  assert.deepEqual(batches(), [])
  await turns()
  assert.deepEqual(batches(), [['a', 'b']])
  const second = Promise.all(['c', 'd'].map(hand))
  await turns()
  assert.equal(runs.length, 1)
  runs[0]?.end()
  assert.deepEqual(await first, ['a done', 'b done'])
  await turns()
  assert.deepEqual(batches(), [
    ['a', 'b'],
    ['c', 'd'],
  ])
  runs[1]?.end()
  assert.deepEqual(await second, ['c done', 'd done'])
})

test('a batch holds no more than it may', async () => {
  const { runs, hand, batches } = gathering({ slots: 1, most: 2 })
  for (const item of ['a', 'b', 'c']) void hand(item)
  await turns()
  assert.deepEqual(batches(), [['a', 'b']])
  runs[0]?.end()
  await turns()
  assert.deepEqual(batches().at(-1), ['c'])
})

test('as many batches are under way as there are slots', async () => {
  const { runs, hand, batches } = gathering({ slots: 2, most: 1 })
  for (const item of ['a', 'b', 'c']) void hand(item)
  await turns()
  assert.deepEqual(batches(), [['a'], ['b']])
  runs[1]?.end()
  await turns()
  assert.deepEqual(batches().at(-1), ['c'])
})

test('items with one key are never under way at the same time, and hold up no others', async () => {
  const { runs, hand, batches } = gathering({ slots: 2, most: 10 })
  for (const item of ['a1', 'a2', 'b1', 'a3']) void hand(item)
  await turns()
  assert.deepEqual(batches(), [['a1', 'b1']])
  void hand('c1')
  await turns()
  assert.deepEqual(batches().at(-1), ['c1'])
  runs[1]?.end()
  await turns()
  assert.equal(runs.length, 2)
  runs[0]?.end()
  await turns()
  assert.deepEqual(batches().at(-1), ['a2'])
  runs[2]?.end()
  await turns()
  assert.deepEqual(batches().at(-1), ['a3'])
})

test('an item with several keys waits for each of them', async () => {
  const { runs, hand, batches } = gathering({ slots: 2, most: 10, patience: 50 })
  for (const item of ['a1', 'ab1']) void hand(item)
  await turns()
  assert.deepEqual(batches(), [['a1']])
  assert.equal(await hand('bca'), 'bca overdue')
  runs[0]?.end()
  await turns()
  assert.deepEqual(batches(), [['a1']], 'the first that waited is overdue, too')
})

test('a batch that rejects frees its slot and its keys', async () => {
  const { runs, hand, batches } = gathering({ slots: 1, most: 10 })
  const first = hand('a1')
  void hand('a2')
  await turns()
  runs[0]?.fail(new Error('gone'))
  await assert.rejects(first, /gone/)
  await turns()
  assert.deepEqual(batches(), [['a1'], ['a2']])
})

test('what a batch leaves goes on first, each by itself, before others of its key', async () => {
  const { runs, hand, batches } = gathering({ slots: 1, most: 10 })
  const results = Promise.all(['b1', 'c1', 'd'].map(hand))
  await turns()
  void hand('c2')
  void hand('e')
  runs[0]?.end(['b1', 'c1'])
  for (const at of [1, 2, 3]) {
    await turns()
    runs[at]?.end()
  }
  assert.deepEqual(batches(), [['b1', 'c1', 'd'], ['b1'], ['c1'], ['c2', 'e']])
  assert.deepEqual(await results, ['b1 done', 'c1 done', 'd done'])
})

test('an item that goes alone shares its batch with nobody', async () => {
  const { runs, hand, batches } = gathering({ slots: 1, most: 10 })
  for (const item of ['b', 'c!', 'd', 'e']) void hand(item)
  for (const at of [0, 1]) {
    await turns()
    runs[at]?.end()
  }
  assert.deepEqual(batches(), [['b', 'd', 'e'], ['c!']])
})

test('an item waits for another of its key only so long; for a slot it waits on', async () => {
  const { runs, hand } = gathering({ slots: 1, most: 10, patience: 50 })
  void hand('a1')
  await turns()
  const refusals = hand('a2')
  const waiting = hand('b1')
  assert.equal(await refusals, 'a2 overdue')
  runs[0]?.end()
  await turns()
  runs[1]?.end()
  assert.equal(await waiting, 'b1 done')
})
