import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../database/connect.ts'
import type { Log } from '../kernel/log.ts'
import { releaseLeases, returnLease, type Lease, type QueueTable } from './lease.ts'
import { returnDelay } from './retry.ts'

/** A database that restarts is back by then. */
const tries = 20
const pauseMs = 500

interface Passing {
  readonly database: Database
  readonly log: Log
  readonly random: () => number
  readonly error: unknown
}

/**
 * Puts a row back after a passing database failure: no attempt is used. If that is in vain too,
 * the lease runs out and the sweeper takes the row back.
 */
export async function giveBack(
  lease: Lease & { readonly times_returned: number },
  table: QueueTable,
  { database, log, random, error }: Passing,
): Promise<void> {
  log.warn({ err: error, table, id: lease.id }, 'passing database failure, will try again')
  const after = returnDelay(lease.times_returned, random)
  for (let left = tries; left > 0; left -= 1) {
    try {
      await returnLease(database.db, table, { lease, after })
      return
    } catch {
      await pause(pauseMs)
    }
  }
}

/** Gives rows back as if nobody had held them: another process may do what this one may not. */
export async function leaveToOthers(
  leases: readonly Lease[],
  table: QueueTable,
  { database, log, error }: Omit<Passing, 'random'>,
): Promise<void> {
  log.warn({ err: error, table, rows: leases.length }, 'left to a process with every listener')
  await releaseLeases(database.db, table, leases)
}
