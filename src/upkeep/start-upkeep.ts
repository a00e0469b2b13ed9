import type { Database } from '../database/connect.ts'
import { minutes, seconds, type Duration } from '../kernel/duration.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import type { Numbers } from '../numbers/slots.ts'
import { runIfDue, type Schedule } from '../queue/schedule.ts'
import { repeat } from './repeat.ts'
import { continueRuns } from './continue-runs.ts'
import { markUnknownPayments, sweepAwaiting, sweepLeases } from './sweep.ts'

export interface UpkeepOptions {
  readonly database: Database
  readonly log: Log
  readonly newId: NewId
  readonly numbers: Numbers
  /** Blanks out known secrets. */
  scrub(text: string): string
  readonly schedules: readonly Schedule[]
  readonly reviewsUnknownPayments: boolean
  /** Calls or deliveries wait again: the workers of this process look for them now. */
  wake(): void
  /** The same, of all processes. */
  announce(): Promise<void>
}

export interface Upkeep {
  stop(): Promise<void>
}

const leasesEvery: Duration = seconds(5)
/** Somebody watches how far a replay comes. */
const runsEvery: Duration = seconds(2)
const restEvery: Duration = minutes(1)

/** Finds what was forgotten, and runs what is due; every process may do it, none needs to. */
export function startUpkeep(options: UpkeepOptions): Upkeep {
  const { database, log, newId, numbers, scrub } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const sweeps = [
    repeat(leasesEvery, log, async () => {
      if ((await sweepLeases(database, { log, newId, numbers })) > 0) options.wake()
    }),
    repeat(runsEvery, log, () => continueRuns(database, { ...options, signal })),
    repeat(restEvery, log, async () => {
      if ((await sweepAwaiting(database, log)) > 0) options.wake()
      if (options.reviewsUnknownPayments) await markUnknownPayments(database, { log, newId })
    }),
    ...options.schedules.map((schedule) =>
      repeat(restEvery, log, async () => {
        await runIfDue(database.db, schedule, { newId, signal, scrub })
      }),
    ),
  ]
  return {
    async stop() {
      stopping.abort()
      await Promise.all(sweeps.map((stop) => stop()))
    },
  }
}
