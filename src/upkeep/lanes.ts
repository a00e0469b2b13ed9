import { setTimeout as pause } from 'node:timers/promises'
import { seconds, type Duration } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'
import type { ChargePace } from './charge-pace.ts'
import { repeat } from './repeat.ts'

/** What one process does with leased rows, several at the same time. */
export interface Lanes {
  /**
   * Takes what is due, as much as there is room for until it is over. How long until more may be:
   * some gateways have been asked fast enough for now.
   */
  look(isOver: () => boolean): Promise<Duration | undefined>
  /** Work under way. */
  readonly underWay: ReadonlySet<Promise<void>>
  /** Rows that were worked on. */
  readonly begun: number
}

export interface LaneTake {
  /** Rows at most. */
  readonly limit: number
  /** Gateways that are asked fast enough already. */
  readonly busy: readonly string[]
  /** How many rows were taken before. */
  readonly begun: number
}

export interface LanesOptions<Lease> {
  readonly lanes: number
  readonly pace: ChargePace
  /** The next rows. */
  take(asked: LaneTake): Promise<readonly Lease[]>
  /** The end of each, which never rejects. */
  work(leases: readonly Lease[]): readonly Promise<void>[]
}

export function createLanes<Lease>({ lanes, pace, take, work }: LanesOptions<Lease>): Lanes {
  const underWay = new Set<Promise<void>>()
  let begun = 0
  return {
    look: async (isOver) => {
      // Work may end as fast as it is taken: then there is always room.
      while (!isOver() && underWay.size < lanes) {
        const busy = pace.busy()
        const limit = Math.min(lanes - underWay.size, pace.most())
        const leases = await take({ limit, busy, begun })
        if (leases.length === 0) return busy.length === 0 ? undefined : (pace.wait() ?? 0)
        begun += leases.length
        for (const one of work(leases)) {
          const working = one.finally(() => underWay.delete(working))
          underWay.add(working)
        }
      }
      return undefined
    },
    underWay,
    get begun() {
      return begun
    },
  }
}

/** Works on all that is due until nothing is; what becomes due meanwhile belongs to it. */
export async function workUntilNoneIsDue(lanes: Lanes, signal?: AbortSignal): Promise<void> {
  const isOver = () => signal?.aborted === true
  try {
    while (!isOver()) {
      const wait = await lanes.look(isOver)
      if (wait === undefined && lanes.underWay.size === 0) return
      await Promise.race([...lanes.underWay, ...(wait === undefined ? [] : [pause(wait)])])
    }
  } finally {
    // Whoever asked for this closes the database next.
    await Promise.all(lanes.underWay)
  }
}

const lookEvery: Duration = seconds(2)

/** Lanes that work for as long as the process runs. */
export interface RunningLanes {
  /** They look now. */
  wake(): void
  /** Ends after what is under way. */
  stop(): Promise<void>
}

/** Without work they look into an index every two seconds, or when they are woken. */
export function startLanes(lanes: Lanes, log: Log): RunningLanes {
  let isStopping = false
  // One for each round: what lasted longer would keep what every race has hung on it.
  let resting = new AbortController()
  const wake = () => resting.abort()
  const stop = repeat(lookEvery, log, async () => {
    while (!isStopping) {
      resting = new AbortController()
      const wait = await lanes.look(() => isStopping)
      // A provider may be slow, and other lanes free.
      await Promise.race([...lanes.underWay, sleep(wait ?? lookEvery, resting.signal)])
      wake()
    }
  })
  return {
    wake,
    stop: async () => {
      isStopping = true
      wake()
      await stop()
      await Promise.all(lanes.underWay)
    },
  }
}

async function sleep(wait: Duration, signal: AbortSignal): Promise<void> {
  await pause(wait, undefined, { signal }).catch(() => {})
}
