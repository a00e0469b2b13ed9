import { setTimeout as pause } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Database } from '../database/connect.ts'
import { followIndexes } from '../database/read-in-order.ts'
import {
  deleteRunItems,
  filterOf,
  insertRunItems,
  readRunItems,
  readStandings,
  type RunRow,
} from '../database/runs.ts'
import { databaseNow } from '../database/now.ts'
import type { Tables } from '../database/tables.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import type { Lease } from '../leases/leased-table.ts'
import { runKinds, type RunKind } from '../wire/run.ts'
import { callRows } from './failed-calls.ts'
import { deferredEventRows, deliveryRows } from './failed-deliveries.ts'
import type { FailedPage, FailedRow, FailedRows } from './failed-rows.ts'
import { lockRun, releaseRun, takeRun } from './leased-runs.ts'

interface RunsOptions {
  readonly log: Log
  readonly newId: NewId
  readonly signal: AbortSignal
  /** Calls or deliveries wait again: workers look for them now. */
  announce(): Promise<void>
}

/** What is replayed of each kind; a run of all comes to them in the order of `runKinds`. */
export const failedRows: Readonly<Record<RunKind, FailedRows>> = {
  call: callRows,
  delivery: deliveryRows,
  deferred_event: deferredEventRows,
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
export async function continueRuns(database: Database, options: RunsOptions): Promise<void> {
  while (!options.signal.aborted) {
    const lease = await takeRun(database.db, options.newId())
    if (lease === undefined) return
    try {
      await takeTurn(database, lease, options)
    } finally {
      await releaseRun(database.db, lease)
    }
  }
}

async function takeTurn(
  database: Database,
  lease: Lease,
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

/** `lost`: another process has the run. */
export type RunBatch =
  | { readonly kind: 'requeued'; readonly count: number; readonly isLast: boolean }
  | { readonly kind: 'ended' | 'lost' }

const batchRows = 100
/** A filter may match few of many failed rows; no transaction reads more of them. */
const scannedRows = 1_000

/**
 * Puts the next rows of a run back into the queue and moves its cursor, in one transaction: whoever
 * goes on with it begins behind them.
 */
export function runBatch(database: Database, lease: Lease): Promise<RunBatch> {
  return database.transaction(async ({ db }): Promise<RunBatch> => {
    const run = await lockRun(db, lease)
    if (run === undefined) return { kind: 'lost' }
    if (run.state === 'stopping') {
      await end(db, run, 'stopped')
      return { kind: 'ended' }
    }
    if (run.state !== 'running') return { kind: 'ended' }
    await followIndexes(db)
    return replayNext(db, run)
  })
}

async function replayNext(db: Kysely<Tables>, run: RunRow): Promise<RunBatch> {
  const after = afterOf(run)
  const page = { before: run.created_at, after, limit: scannedRows }
  const rows = failedRows[run.phase]
  const found = await rows.next(db, filterOf(run), page)
  const seen = firstMatching(found, batchRows)
  const ids = seen.flatMap(({ id, matches }) => (matches ? [id] : []))
  const of = { filter: filterOf(run), before: run.created_at }
  const back = ids.length === 0 ? [] : await rows.requeue(db, ids, of)
  await insertRunItems(db, { runId: run.id, kind: run.phase, ids: back })
  const isOver = seen.length === found.length && found.length < scannedRows
  const next = nextPhase(run)
  const cursor = isOver ? undefined : (seen.at(-1) ?? after)
  await db
    .updateTable('billing.runs')
    .set({
      done: run.done + back.length,
      phase: (isOver ? next : undefined) ?? run.phase,
      cursor_at: cursor?.at ?? null,
      cursor_id: cursor?.id ?? null,
    })
    .where('id', '=', run.id)
    .execute()
  const isLast = isOver && next === undefined
  if (isLast) await end(db, run, 'finished')
  return { kind: 'requeued', count: back.length, isLast }
}

function afterOf({ cursor_at: at, cursor_id: id }: RunRow): FailedPage['after'] {
  return at === null || id === null ? undefined : { at, id }
}

/** Undefined: nothing comes after this one. */
function nextPhase({ phase, kind }: RunRow): RunKind | undefined {
  return kind === null ? runKinds[runKinds.indexOf(phase) + 1] : undefined
}

/** As far as the row that is the last one to be replayed. */
function firstMatching(rows: readonly FailedRow[], most: number): readonly FailedRow[] {
  let matching = 0
  const last = rows.findIndex(({ matches }) => matches && ++matching === most)
  return last === -1 ? rows : rows.slice(0, last + 1)
}

async function end(
  db: Kysely<Tables>,
  { id }: RunRow,
  state: 'stopped' | 'finished',
): Promise<void> {
  await db
    .updateTable('billing.runs')
    .set({ state, finished_at: await databaseNow(db) })
    .where('id', '=', id)
    .execute()
}

/**
 * Looks what became of the next rows that a run had put back; one that has ended is forgotten, so that
 * it counts once. False: there are no more, or another process has the run.
 */
export function countEnded(database: Database, lease: Lease): Promise<boolean> {
  return database.transaction(async ({ db }) => {
    const run = await lockRun(db, lease)
    if (run === undefined) return false
    const items = await readRunItems(db, run.id, { after: run.item_cursor, limit: scannedRows })
    const { waiting, failed } = await readStandings(db, items)
    const ended = items.flatMap(({ id }) => (waiting.has(id) ? [] : [id]))
    await deleteRunItems(db, run.id, ended)
    const isMore = items.length === scannedRows
    await db
      .updateTable('billing.runs')
      .set({
        ended: run.ended + ended.length,
        failed_again: run.failed_again + failed.size,
        item_cursor: isMore ? (items.at(-1)?.id ?? null) : null,
      })
      .where('id', '=', run.id)
      .execute()
    return isMore
  })
}
