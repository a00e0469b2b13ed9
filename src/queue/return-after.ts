import type { Database } from '../database/connect.ts'
import type { Log } from '../kernel/log.ts'
import { pause } from '../kernel/pause.ts'
import { releaseRows, returnRow } from '../leases/queue-rows.ts'
import { leaseLost, type Lease, type QueueRow, type QueueTable } from '../leases/leased-table.ts'
import { returnDelay } from './retry.ts'

/** A database that restarts is back by then. */
const tries = 20
const pauseMs = 500

interface PassingFailure {
  readonly database: Database
  readonly log: Log
  readonly random: () => number
  readonly error: unknown
}

/**
 * Returns a row after a passing failure of the database, which may last: no attempt is used. If
 * that also fails, the lease runs out and the sweeper takes the row back. Throws `leaseLost`.
 */
export async function returnAfter(
  { database, log, random, error }: PassingFailure,
  table: QueueTable,
  row: QueueRow,
): Promise<void> {
  logReturned(log, table, { row, error })
  const after = returnDelay(row.times_returned, random)
  const isOver = await trySeveralTimes(() => returnRow(database.db, table, { lease: row, after }))
  if (!isOver) throw leaseLost(row)
}

export function logReturned(
  log: Log,
  { name }: QueueTable,
  { row, error }: { readonly row: Lease; readonly error: unknown },
): void {
  log.warn({ err: error, table: name, id: row.id }, 'passing database failure, will try again')
}

/** True if the database stays away. */
async function trySeveralTimes(work: () => Promise<boolean>): Promise<boolean> {
  for (let left = tries; left > 0; left -= 1) {
    try {
      return await work()
    } catch {
      await pause(pauseMs)
    }
  }
  return true
}

/** Releases rows as if nobody had held them: another process may do what this one must not. */
export async function releaseToOthers(
  { database, log, error }: Omit<PassingFailure, 'random'>,
  table: QueueTable,
  leases: readonly Lease[],
): Promise<void> {
  const entry = { err: error, table: table.name, rows: leases.length }
  log.warn(entry, 'left to a process with every listener')
  await releaseRows(database.db, table, leases)
}
