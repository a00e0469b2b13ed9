import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../database/connect.ts'
import { anyUnnumbered, countUnnumbered, numberedTogether, numberEvents } from '../database/feed.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'

/** Where a process says that it has numbered events, and how far. */
export const feedChannel = 'quittance_feed'

/**
 * Gives committed events their positions. Every process does it whenever it has committed some;
 * what one leaves behind, another numbers.
 */
export interface EventNumberer {
  /** There may be events to number. They are at once, or together with those that come next. */
  ask(): void
  /** Calls back with the newest position that this process has given. Returns what ends it. */
  onNumbered(tell: (last: bigint) => void): () => void
  /**
   * Numbers what is committed by now. False: that is a whole history, or others are numbering all the
   * time; what an event will get can only be foretold then.
   */
  catchUp(): Promise<boolean>
  /** Asks again and again, for events of processes that have ended; returns what ends it. */
  watch(): () => void
  /** Numbers no more; ends when what is under way has. */
  stop(): Promise<void>
}

export interface NumbererOptions {
  readonly database: Database
  readonly log: Log
  /** The shortest time from one numbering to the next. */
  readonly every?: Duration
}

const defaultEvery = { postgres: 20, embedded: 50 } as const
/**
 * A numbering costs a commit, for one event as for a thousand. Where commits are slow, or the machine
 * is busy, more events gather meanwhile: no more than a twentieth of the time is spent numbering.
 */
const restFactor = 20
const longestGathering: Duration = 250
const shortestBusyRest: Duration = 20
const lookEvery = seconds(1)
const shortestFailureRest = seconds(1)
const longestFailureRest = seconds(30)

export function createEventNumberer(options: NumbererOptions): EventNumberer {
  const { database, log, every = defaultEvery[database.kind] } = options
  const tells = new Set<(last: bigint) => void>()
  const tell = (last: bigint) => {
    for (const one of tells) one(last)
    if (database.kind === 'embedded') return
    database.pool
      .query('select pg_notify($1, $2)', [database.schema.channel(feedChannel), `${last}`])
      .catch((error: unknown) => log.debug({ err: error }, 'readers look for themselves'))
  }
  let isStopped = false
  let failureRest = 0
  let busyRest = shortestBusyRest
  const number = async (): Promise<Numbered> => {
    const begun = performance.now()
    try {
      const end = await numberAll(database, tell, () => isStopped)
      failureRest = 0
      busyRest = end === 'busy' ? Math.min(busyRest * 2, longestGathering) : shortestBusyRest
      if (end === 'busy') return { rest: busyRest, again: true }
      const gathering = Math.min((performance.now() - begun) * restFactor, longestGathering)
      return { rest: Math.max(every, gathering), again: false }
    } catch (error) {
      failureRest = Math.min(Math.max(failureRest * 2, shortestFailureRest), longestFailureRest)
      log.warn({ err: error }, 'events could not be numbered; it will be tried again')
      return { rest: failureRest, again: true }
    }
  }
  const turns = takeTurns(number)
  return {
    ask: turns.ask,
    onNumbered(one) {
      tells.add(one)
      return () => tells.delete(one)
    },
    catchUp: () => catchUp(database, tell),
    watch() {
      turns.ask()
      const looking = setInterval(turns.ask, lookEvery)
      return () => clearInterval(looking)
    },
    stop() {
      isStopped = true
      return turns.stop()
    },
  }
}

interface Numbered {
  /** How long nothing is numbered afterwards. */
  readonly rest: Duration
  /** Something is left to number. */
  readonly again: boolean
}

/** One at a time, each followed by its rest; whoever asks meanwhile is served by the next one. */
function takeTurns(number: () => Promise<Numbered>) {
  let isAsked = false
  let isStopped = false
  let running: Promise<void> | undefined
  let resting: NodeJS.Timeout | undefined
  const run = async () => {
    isAsked = false
    const { rest, again } = await number()
    isAsked ||= again
    running = undefined
    if (isStopped) return
    // It keeps no process: what is left to number is numbered by whoever comes next.
    resting = setTimeout(() => {
      resting = undefined
      if (isAsked) ask()
    }, rest).unref()
  }
  const ask = () => {
    isAsked = true
    if (!isStopped && running === undefined && resting === undefined) running = run()
  }
  return {
    ask,
    async stop() {
      isStopped = true
      clearTimeout(resting)
      await running
    },
  }
}

const mostCatchUps = 20
const catchUpPause: Duration = 25

async function catchUp(database: Database, tell: (last: bigint) => void): Promise<boolean> {
  for (let tries = 0; tries < mostCatchUps; tries += 1) {
    const waiting = await countUnnumbered(database.db, numberedTogether + 1)
    if (waiting === 0) return true
    if (waiting > numberedTogether) return false
    const done = await database.transaction(({ db }) => numberEvents(db))
    if (done.kind === 'numbered') {
      if (done.count > 0) tell(done.last)
      return true
    }
    await pause(catchUpPause)
  }
  return false
}

/** Batch after batch, while there are full ones, and nobody wants it to end. */
async function numberAll(
  database: Database,
  tell: (last: bigint) => void,
  isStopped: () => boolean,
) {
  while (!isStopped()) {
    if (!(await anyUnnumbered(database.db))) return 'done'
    const done = await database.transaction(({ db }) => numberEvents(db))
    if (done.kind === 'busy') return 'busy'
    if (done.count > 0) tell(done.last)
    if (done.count < numberedTogether) return 'done'
  }
  return 'done'
}
