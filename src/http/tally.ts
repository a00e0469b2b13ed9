import { minutes, type Duration } from '../kernel/duration.ts'

/** How often something happened, and to whom. */
export interface Counted {
  readonly count: number
  /** For each name how often; beyond the first twenty names only `count` tells. */
  readonly names: Readonly<Record<string, number>>
}

/** Counts what a stranger can make happen any number of times, so that it cannot fill the log. */
export interface Tally {
  add(name: string): void
  /** Tells what has not been told. */
  end(): void
}

const mostNames = 20

/** Tells of the first time at once, then of what was added since, every minute in which any was. */
export function tally(tell: (counted: Counted) => void, every: Duration = minutes(1)): Tally {
  const counts = new Map<string, number>()
  let count = 0
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    timer = undefined
    if (count === 0) return
    tell({ count, names: Object.fromEntries(counts) })
    counts.clear()
    count = 0
    timer = setTimeout(flush, every).unref()
  }
  return {
    add(name) {
      count += 1
      const known = counts.get(name)
      if (known !== undefined || counts.size < mostNames) counts.set(name, (known ?? 0) + 1)
      if (timer === undefined) flush()
    },
    end() {
      clearTimeout(timer)
      flush()
      clearTimeout(timer)
    },
  }
}
