import { createDeadlines, type Deadline } from '../kernel/deadlines.ts'
import type { Duration } from '../kernel/duration.ts'
import { keepUnderWay } from '../kernel/keep-under-way.ts'

export interface GatherOptions<Item, Result> {
  /** Batches under way at the same time. */
  readonly slots: number
  /** Items in the next batch at most. */
  most(): number
  /** Items that share a key are never under way at the same time, and keep their order. */
  keysOf(item: Item): readonly string[]
  /** How long an item waits for another that shares a key with it. */
  readonly patience: Duration
  /** Its result if it has waited too long. */
  overdue(item: Item): Promise<Result>
  /** Whether the item makes a batch of its own. */
  goesAlone(item: Item): boolean
  /** Items without a result go next, each in a batch of its own. */
  run(batch: readonly Item[]): Promise<ReadonlyMap<Item, Result>>
}

interface WaitingItem<Item, Result> {
  readonly item: Item
  alone: boolean
  readonly keys: readonly string[]
  readonly result: PromiseWithResolvers<Result>
  /** While it waits. */
  deadline?: Deadline<WaitingItem<Item, Result>>
}

type Batch<Item, Result> = readonly WaitingItem<Item, Result>[]

/**
 * Makes batches of items that come one by one: those that come within a turn of the event loop go
 * together, and while a batch is under way, the next one gathers.
 */
export function gather<Item, Result>(
  options: GatherOptions<Item, Result>,
): (item: Item) => Promise<Result> {
  /** In the order in which they go. */
  let waiting: WaitingItem<Item, Result>[] = []
  const busy = new Set<string>()
  const overdue = createDeadlines<WaitingItem<Item, Result>>(options.patience, (one) => {
    if (!one.keys.some((key) => busy.has(key))) return limit(one)
    waiting = waiting.filter((other) => other !== one)
    one.result.resolve(options.overdue(one.item))
  })
  const limit = (one: WaitingItem<Item, Result>) => {
    one.deadline = overdue.add(one)
  }
  const batches = keepUnderWay(options.slots, () => {
    const batch = takeBatch(waiting, busy, options.most())
    if (batch.length === 0) return undefined
    const taken = new Set(batch)
    waiting = waiting.filter((one) => !taken.has(one))
    for (const { deadline, keys } of batch) {
      if (deadline !== undefined) overdue.delete(deadline)
      for (const key of keys) busy.add(key)
    }
    return runBatch(batch)
  })
  const runBatch = async (batch: Batch<Item, Result>) => {
    const left = await resolveEach(batch, options.run)
    for (const one of left) {
      one.alone = true
      limit(one)
    }
    waiting = [...left, ...waiting]
    for (const { keys } of batch) for (const key of keys) busy.delete(key)
  }

  return (item) => {
    const result = Promise.withResolvers<Result>()
    const one = { item, keys: options.keysOf(item), alone: options.goesAlone(item), result }
    waiting.push(one)
    limit(one)
    batches.advance()
    return result.promise
  }
}

/** Never rejects: each item gets its own result, or the error of all. Those without any are left. */
async function resolveEach<Item, Result>(
  batch: Batch<Item, Result>,
  run: GatherOptions<Item, Result>['run'],
): Promise<Batch<Item, Result>> {
  try {
    const results = await run(batch.map(({ item }) => item))
    for (const { item, result } of batch) {
      const own = results.get(item)
      if (own !== undefined) result.resolve(own)
    }
    return batch.filter(({ item }) => !results.has(item))
  } catch (error) {
    for (const { result } of batch) result.reject(error)
    return []
  }
}

function takeBatch<Item, Result>(
  waiting: Batch<Item, Result>,
  busy: ReadonlySet<string>,
  most: number,
): Batch<Item, Result> {
  const batch: WaitingItem<Item, Result>[] = []
  const taken = new Set(busy)
  for (const one of waiting) {
    if (batch.length >= most || batch[0]?.alone === true) break
    const joins = batch.length === 0 || !one.alone
    if (joins && !one.keys.some((key) => taken.has(key))) batch.push(one)
    // An item that is passed over is not overtaken by another that shares a key with it.
    for (const key of one.keys) taken.add(key)
  }
  return batch
}
