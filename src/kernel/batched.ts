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
  let isUnderWay = false
  let isDue: NodeJS.Immediate | undefined
  const advance = () => {
    if (!isUnderWay && waiting.length > 0) isDue ??= setImmediate(() => void begin())
  }
  const begin = async () => {
    isDue = undefined
    isUnderWay = true
    const batch = waiting.splice(0, most)
    try {
      const results = await run(batch.map(({ item }) => item))
      for (const [index, { result }] of batch.entries()) result.resolve(results[index] as Result)
    } catch (error) {
      for (const { result } of batch) result.reject(error)
    }
    isUnderWay = false
    advance()
  }
  return (item) => {
    const result = Promise.withResolvers<Result>()
    waiting.push({ item, result })
    advance()
    return result.promise
  }
}
