import { setTimeout as pause } from 'node:timers/promises'
import { seconds, type Duration } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'
import type { GatewayPace } from './gateway-pace.ts'
import { repeat } from './repeat.ts'

/** What one process does with leased rows, several at the same time. */
export interface Lanes {
  /**
   * Takes what is due, as much as there is room for until it is over. How long until more may be:
   * some gateways have been asked fast enough for now.
   */
  look(isOver: () => boolean): Promise<Duration | undefined>
  /** Since the last look began, there may be room for more. */
  readonly freed: Promise<void>
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
  /** Providers that are asked at the same time. */
  readonly lanes: number
  readonly pace: GatewayPace
  /** The next rows. */
  take(asked: LaneTake): Promise<readonly Lease[]>
  /**
   * The end of each, which never rejects. `leave` frees the lane of a row before its end: its
   * provider has answered, and the next ones may be asked while the answer is written.
   */
  work(leases: readonly Lease[], leave: (lease: Lease) => void): readonly Promise<void>[]
}

export function createLanes<Lease>({ lanes, pace, take, work }: LanesOptions<Lease>): Lanes {
  const underWay = new Set<Promise<void>>()
  const inLane = new Set<Lease>()
  let freed = Promise.withResolvers<void>()
  let begun = 0
  const leave = (lease: Lease) => {
    inLane.delete(lease)
    // What ends together makes room together: the next take is as large.
    setImmediate(freed.resolve)
  }
  const room = () => (underWay.size - inLane.size <= lanes ? lanes - inLane.size : 0)
  return {
    look: async (isOver) => {
      freed = Promise.withResolvers()
      // Work may end as fast as it is taken: then there is always room.
      while (!isOver() && room() > 0) {
        const busy = pace.busy()
        const leases = await take({ limit: Math.min(room(), pace.most()), busy, begun })
        if (leases.length === 0) return busy.length === 0 ? undefined : (pace.wait() ?? 0)
        begun += leases.length
        for (const lease of leases) inLane.add(lease)
        for (const [index, one] of work(leases, leave).entries()) {
          const working = one.finally(() => {
            underWay.delete(working)
            const lease = leases[index]
            if (lease !== undefined) leave(lease)
          })
          underWay.add(working)
        }
      }
      return undefined
    },
    get freed() {
      return freed.promise
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
      await Promise.race([lanes.freed, ...(wait === undefined ? [] : [pause(wait)])])
    }
  } finally {
    // The caller closes the database next.
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
      await Promise.race([lanes.freed, sleep(wait ?? lookEvery, resting.signal)])
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
