import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../database/connect.ts'
import { releaseRun, takeRun } from '../database/runs.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import { countEnded, runBatch, type RunLease } from './run-batch.ts'

export interface RunsOptions {
  readonly log: Log
  readonly newId: NewId
  readonly signal: AbortSignal
  /** Calls or deliveries wait again: workers look for them now. */
  announce(): Promise<void>
}

/** Then another run has its turn. */
const batchesInTurn = 20
/** Pages of rows that were put back, of a thousand each. */
const looksInTurn = 10
/** Between two batches, so that intake and processing go on undisturbed. */
const pauseMs = 10

/**
 * Goes on with all runs that nobody is at, in turn, until none has anything to do now. Any process may
 * be killed in between: after its lease another goes on behind its last batch.
 */
export async function goOnWithRuns(database: Database, options: RunsOptions): Promise<void> {
  while (!options.signal.aborted) {
    const token = options.newId()
    const id = await takeRun(database.db, token)
    if (id === undefined) return
    const lease = { id, token }
    try {
      await takeTurn(database, lease, options)
    } finally {
      await releaseRun(database.db, lease)
    }
  }
}

async function takeTurn(
  database: Database,
  lease: RunLease,
  { signal, announce, log }: RunsOptions,
): Promise<void> {
  for (let batches = 0; batches < batchesInTurn && !signal.aborted; batches += 1) {
    const batch = await runBatch(database, lease)
    if (batch.kind !== 'requeued') break
    if (batch.count > 0) await announce()
    if (batch.isLast) {
      log.info({ run: lease.id }, 'a run has put all that matched back into the queue')
      break
    }
    await pause(pauseMs)
  }
  for (let looks = 0; looks < looksInTurn && !signal.aborted; looks += 1) {
    if (!(await countEnded(database, lease))) return
  }
}
