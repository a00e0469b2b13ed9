import { keepUnderWay } from './keep-under-way.ts'

interface WaitingItem<Item, Result> {
  readonly item: Item
  readonly result: PromiseWithResolvers<Result>
}

/**
 * Does for many items at once what is asked for one at a time: those of one turn of the event loop
 * go together, and so do those that come while others are under way. `run` gives the results in the
 * order of its items; where it fails, it fails for each of them.
 */
export function batched<Item, Result>(
  most: number,
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  const waiting: WaitingItem<Item, Result>[] = []
  const runBatch = async (batch: readonly WaitingItem<Item, Result>[]) => {
    try {
      const results = await run(batch.map(({ item }) => item))
      for (const [index, { result }] of batch.entries()) result.resolve(results[index] as Result)
    } catch (error) {
      for (const { result } of batch) result.reject(error)
    }
  }
  const batches = keepUnderWay(1, () =>
    waiting.length === 0 ? undefined : runBatch(waiting.splice(0, most)),
  )
  return (item) => {
    const result = Promise.withResolvers<Result>()
    waiting.push({ item, result })
    batches.advance()
    return result.promise
  }
}
