import type { Duration } from './duration.ts'

/** While some answers are missing, the first one waits so long for others. */
const soon: Duration = 20

/** Runs so many items that come one by one; those that come soon after one another run together. */
export function together<Item, Result>(
  count: number,
  run: (items: readonly Item[]) => Promise<readonly PromiseSettledResult<Result>[]>,
): (item: Item) => Promise<Result> {
  let missing = count
  let waiting: { readonly item: Item; readonly result: PromiseWithResolvers<Result> }[] = []
  let timer: NodeJS.Timeout | undefined
  const runWaiting = async () => {
    clearTimeout(timer)
    timer = undefined
    const batch = waiting
    waiting = []
    const [ran] = await Promise.allSettled([run(batch.map(({ item }) => item))])
    for (const [index, { result }] of batch.entries()) {
      const end = ran.status === 'fulfilled' ? ran.value[index] : ran
      if (end?.status === 'fulfilled') result.resolve(end.value)
      else result.reject(end?.reason)
    }
  }
  return (item) => {
    const result = Promise.withResolvers<Result>()
    waiting.push({ item, result })
    missing -= 1
    if (missing === 0) void runWaiting()
    else timer ??= setTimeout(() => void runWaiting(), soon)
    return result.promise
  }
}
