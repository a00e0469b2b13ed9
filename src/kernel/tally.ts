import { minutes, type Duration } from './duration.ts'

/** How often something happened, and to whom. */
export interface Counted {
  readonly count: number
  /** How often for each name; beyond the first twenty names, only `count` is kept. */
  readonly names: Readonly<Record<string, number>>
}

/** Counts what a stranger can make happen any number of times, so that it cannot fill the log. */
export interface Tally {
  /** `logOne` reports this one, if it is reported on its own. */
  add(name: string, logOne?: () => void): void
  /** Reports what was not reported yet. */
  end(): void
}

export interface TallyOptions {
  readonly every?: Duration
  /** How many are reported one by one before the rest is counted. */
  readonly single?: number
}

const mostNames = 20

/**
 * Reports the first ones at once, then every minute what was added since. After a minute without
 * any, it starts again with the first ones.
 */
export function tally(log: (counted: Counted) => void, options: TallyOptions = {}): Tally {
  const { every = minutes(1), single = 1 } = options
  const counts = new Map<string, number>()
  let count = 0
  let logged = 0
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    timer = undefined
    if (count === 0) return
    log({ count, names: Object.fromEntries(counts) })
    counts.clear()
    count = 0
    timer = setTimeout(flush, every).unref()
  }
  return {
    add(name, logOne = () => log({ count: 1, names: { [name]: 1 } })) {
      if (timer === undefined) {
        logged = 0
        timer = setTimeout(flush, every).unref()
      }
      if (logged < single) {
        logged += 1
        logOne()
        return
      }
      count += 1
      const known = counts.get(name)
      if (known !== undefined || counts.size < mostNames) counts.set(name, (known ?? 0) + 1)
    },
    end() {
      clearTimeout(timer)
      flush()
      clearTimeout(timer)
    },
  }
}
