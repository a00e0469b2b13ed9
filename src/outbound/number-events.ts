import type { Database } from '../database/connect.ts'
import { numberedTogether, numberEvents } from '../database/feed.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'
import { coalesce } from '../queue/coalesce.ts'

/** Where a process says that it has numbered events, and how far. */
export const feedChannel = 'quittance_feed'

/**
 * Gives committed events their positions. Every process does it whenever it has committed some;
 * what one leaves behind, another numbers.
 */
export interface EventNumberer {
  /** There may be events to number. They are at once, but never more often than every few ms. */
  ask(): void
  /** Calls back with the newest position that this process has given. Returns what ends it. */
  onNumbered(tell: (last: bigint) => void): () => void
  /** Asks again and again, for events of processes that have ended; returns what ends it. */
  watch(): () => void
  /** Numbers no more; ends when what is under way has. */
  stop(): Promise<void>
}

export interface NumbererOptions {
  readonly database: Database
  readonly log: Log
  /** How long a numbering waits after the one before. */
  readonly every?: Duration
}

const busyPause: Duration = 20
const lookEvery = seconds(1)
const longestRest = seconds(30)
const defaultEvery = { postgres: 20, embedded: 50 } as const

export function createEventNumberer(options: NumbererOptions): EventNumberer {
  const { database, log } = options
  const tells = new Set<(last: bigint) => void>()
  let rest: { readonly until: number; readonly length: Duration } | undefined
  let again: NodeJS.Timeout | undefined
  let isStopped = false
  const askAgain = (pause: Duration) => {
    if (isStopped) return
    again ??= setTimeout(() => {
      again = undefined
      ask()
    }, pause)
  }
  const tell = (last: bigint) => {
    for (const one of tells) one(last)
    if (database.kind === 'embedded') return
    database.pool
      .query('select pg_notify($1, $2)', [feedChannel, `${last}`])
      .catch((error: unknown) => log.debug({ err: error }, 'readers look for themselves'))
  }
  const number = async () => {
    if (isStopped || (rest !== undefined && performance.now() < rest.until)) return
    try {
      if ((await numberAll(database, tell)) === 'busy') askAgain(busyPause)
      rest = undefined
    } catch (error) {
      const length = Math.min(longestRest, (rest?.length ?? seconds(1) / 2) * 2)
      rest = { until: performance.now() + length, length }
      log.warn({ err: error }, 'events could not be numbered; it will be tried again')
      askAgain(length)
    }
  }
  const numbering = coalesce(number, options.every ?? defaultEvery[database.kind])
  const ask = () => {
    if (!isStopped) void numbering.ask()
  }
  return {
    ask,
    onNumbered(one) {
      tells.add(one)
      return () => tells.delete(one)
    },
    watch() {
      ask()
      const timer = setInterval(ask, lookEvery)
      return () => clearInterval(timer)
    },
    async stop() {
      isStopped = true
      clearTimeout(again)
      await numbering.ended()
    },
  }
}

/** Batch after batch, while there are full ones. */
async function numberAll(database: Database, tell: (last: bigint) => void) {
  for (;;) {
    const done = await database.transaction(({ db }) => numberEvents(db))
    if (done.kind === 'busy') return 'busy'
    if (done.count > 0) tell(done.last)
    if (done.count < numberedTogether) return 'done'
  }
}
