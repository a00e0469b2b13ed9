import type { Duration } from '../kernel/duration.ts'

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
}

type Queue<Item, Result> = readonly WaitingItem<Item, Result>[]

/**
 * Makes batches of items that come one by one: while a batch is under way, the next one gathers.
 */
export function gather<Item, Result>(
  options: GatherOptions<Item, Result>,
): (item: Item) => Promise<Result> {
  let waiting: Queue<Item, Result> = []
  const busy = new Set<string>()
  let running = 0

  const advance = () => {
    while (running < options.slots) {
      const { batch, rest } = takeBatch(waiting, busy, options.most())
      if (batch.length === 0) return
      for (const key of keysIn(batch)) busy.add(key)
      waiting = rest
      running += 1
      void runBatch(batch).finally(() => {
        running -= 1
        advance()
      })
    }
  }

  const runBatch = async (batch: Queue<Item, Result>) => {
    try {
      const results = await options.run(batch.map(({ item }) => item))
      const left = batch.filter(({ item }) => !results.has(item))
      for (const one of left) one.alone = true
      waiting = [...left, ...waiting]
      for (const one of batch) {
        const result = results.get(one.item)
        if (result !== undefined) one.result.resolve(result)
      }
    } catch (error) {
      for (const one of batch) one.result.reject(error)
    } finally {
      for (const key of keysIn(batch)) busy.delete(key)
    }
  }

  return (item) => {
    const result = Promise.withResolvers<Result>()
    const one = { item, keys: options.keysOf(item), alone: options.goesAlone(item), result }
    waiting = [...waiting, one]
    advance()
    const look = setInterval(() => {
      if (!waiting.includes(one) || !one.keys.some((key) => busy.has(key))) return
      waiting = waiting.filter((other) => other !== one)
      result.resolve(options.overdue(item))
    }, options.patience)
    look.unref()
    const end = () => clearInterval(look)
    result.promise.then(end, end)
    return result.promise
  }
}

function takeBatch<Item, Result>(
  waiting: Queue<Item, Result>,
  busy: ReadonlySet<string>,
  most: number,
): { readonly batch: Queue<Item, Result>; readonly rest: Queue<Item, Result> } {
  const batch: WaitingItem<Item, Result>[] = []
  const rest: WaitingItem<Item, Result>[] = []
  const taken = new Set(busy)
  for (const [index, one] of waiting.entries()) {
    if (batch.length >= most || batch[0]?.alone === true) {
      rest.push(...waiting.slice(index))
      break
    }
    const joins = batch.length === 0 || !one.alone
    if (joins && !one.keys.some((key) => taken.has(key))) batch.push(one)
    else rest.push(one)
    // An item that is passed over is not overtaken by another that shares a key with it.
    for (const key of one.keys) taken.add(key)
  }
  return { batch, rest }
}

function keysIn<Item, Result>(batch: Queue<Item, Result>): readonly string[] {
  return batch.flatMap(({ keys }) => keys)
}
