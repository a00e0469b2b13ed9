import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Database } from '../database/connect.ts'
import { deleteOldSums } from '../database/counts.ts'
import { interval } from '../database/interval.ts'
import { deleteFailedAttempts } from '../database/failed-attempts.ts'
import { deleteEndedSessions } from '../database/operator-sessions.ts'
import { databaseNow } from '../database/now.ts'
import { deleteOldRefusals } from '../database/refusals.ts'
import { deleteOldRuns } from '../database/runs.ts'
import { deleteOldAttempts, deleteOldForwards, deleteOrphanForwards } from '../database/forwards.ts'
import { deleteOldKeys } from '../database/usage-keys.ts'
import type { Tables } from '../database/tables.ts'
import type { CallState } from '../events/webhook-call.ts'
import { days, hours } from '../kernel/duration.ts'
import { idAt } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import { createVacuum, type Vacuum } from './vacuum.ts'

/** What was deleted. */
export interface PruneResult {
  readonly deletedCalls: number
  /** Of these, calls that had failed for good. */
  readonly deletedFailedCalls: number
}

export interface PruneOptions {
  readonly retentionDays: number
  /** Days that keys of usage are kept; none are deleted if left out. */
  readonly keepKeysDays?: number
  /** Days that requests to endpoints are kept; none are deleted if left out. */
  readonly keepAttemptsDays?: number
  readonly log: Log
  /** Called after each batch, with the total number of calls to delete. */
  readonly onProgress?: (deletedCalls: number, totalCalls: number) => void
  /** Ends the run between two batches. */
  readonly signal?: AbortSignal
}

const batchRows = 500
/** Keys, and requests to endpoints, are small, and there may be many millions of them. */
const smallRows = 5_000
/** Between two batches, so that intake and processing go on undisturbed. */
const pauseMs = 20

/**
 * Deletes finished calls older than the window, in small transactions. Their events stay: they are
 * the claims, and an old callback sent once more must still fire nothing. Reviews stay as well: what
 * a person must look at outlives its calls.
 */
export async function prune(database: Database, options: PruneOptions): Promise<PruneResult> {
  const { retentionDays, onProgress, log } = options
  const vacuum = createVacuum(database, options.signal)
  const deleted = { calls: 0, failed: 0 }
  const old = { retentionDays, before: await oldBefore(database.db, retentionDays) }
  // Only for display: counting a backlog of millions takes longer than a statement may.
  const total = onProgress && (await countPrunable(database.db, old).catch(() => 0))
  let after = idAt(new Date(0))
  for (;;) {
    const batch = await database.transaction(({ db }) => pruneBatch(db, { ...old, after }))
    deleted.calls += batch.deleted.length
    deleted.failed += batch.deleted.filter(({ state }) => state === 'failed').length
    onProgress?.(deleted.calls, Math.max(total ?? 0, deleted.calls))
    await vacuum.afterDeleting('webhook_calls', batch.deleted.length)
    if (batch.last === undefined) break
    after = batch.last
    options.signal?.throwIfAborted()
    if (batch.deleted.length > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  await deleteOldSums(database.db)
  await deleteEndedSessions(database.db)
  await deleteOldRuns(database.db)
  await deleteOldRefusals(database.db)
  for (const rows of await listOldRows(database.db, options, old.before)) {
    await deleteAll(rows, { vacuum, signal: options.signal })
  }
  if (deleted.failed > 0) {
    log.warn({ calls: deleted.failed }, 'pruned calls that had failed for good')
  }
  await vacuum.all()
  return { deletedCalls: deleted.calls, deletedFailedCalls: deleted.failed }
}

interface OldRows {
  readonly table: string
  /** In a small transaction of its own; returns how many. */
  readonly deleteSome: () => Promise<number>
}

/** Attempts that failed, keys of usage, and what was sent to endpoints: long ago. */
async function listOldRows(
  db: Kysely<Tables>,
  { keepKeysDays, keepAttemptsDays }: PruneOptions,
  before: string,
): Promise<readonly OldRows[]> {
  const all: OldRows[] = [
    {
      table: 'failed_attempts',
      deleteSome: () => deleteFailedAttempts(db, before, smallRows),
    },
  ]
  if (keepKeysDays !== undefined) {
    const keys = { keepDays: keepKeysDays, limit: smallRows }
    all.push({ table: 'usage_keys', deleteSome: () => deleteOldKeys(db, keys) })
  }
  if (keepAttemptsDays !== undefined) {
    const now = await databaseNow(db)
    const sentBefore = idAt(new Date(now.getTime() - days(keepAttemptsDays)))
    const old = { keepDays: keepAttemptsDays, limit: smallRows }
    all.push(
      {
        table: 'forward_attempts',
        deleteSome: () => deleteOldAttempts(db, sentBefore, smallRows),
      },
      { table: 'forwards', deleteSome: () => deleteOrphanForwards(db, smallRows) },
      { table: 'forwards', deleteSome: () => deleteOldForwards(db, old) },
    )
  }
  return all
}

/** One batch after the other, until there is none. */
async function deleteAll(
  { table, deleteSome }: OldRows,
  { vacuum, signal }: { readonly vacuum: Vacuum; readonly signal: AbortSignal | undefined },
): Promise<void> {
  for (;;) {
    const batch = await deleteSome()
    if (batch === 0) return
    await vacuum.afterDeleting(table, batch)
    signal?.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

interface OldCalls {
  readonly retentionDays: number
  /** An id beyond those of old calls. */
  readonly before: string
}

/** Times are by the database's clock, ids by those of the processes, which may be off by this. */
const clocksDiffer = hours(1)

async function oldBefore(db: Kysely<Tables>, retentionDays: number): Promise<string> {
  const now = await databaseNow(db)
  return idAt(new Date(now.getTime() - days(retentionDays) + clocksDiffer))
}

function olderThan(wantedDays: number): RawBuilder<unknown> {
  return sql`received_at < statement_timestamp() - ${interval(days(wantedDays))}`
}

function prunable(retentionDays: number): RawBuilder<unknown> {
  return sql`state in ('processed', 'ignored', 'failed') and ${olderThan(retentionDays)}`
}

async function countPrunable(
  db: Kysely<Tables>,
  { retentionDays, before }: OldCalls,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from billing.webhook_calls
    where ${prunable(retentionDays)} and id < ${before}::uuid`.execute(db)
  return rows[0]?.count ?? 0
}

interface OldCall {
  readonly id: string
  /** Null: it is kept. */
  readonly state: CallState | null
}

/**
 * Looks at so many old calls, whether they are deleted or not: a great many that go on make the run
 * longer, but no single statement.
 */
async function pruneBatch(
  db: Kysely<Tables>,
  page: OldCalls & { readonly after: string },
): Promise<{ readonly deleted: readonly OldCall[]; readonly last: string | undefined }> {
  const rows = await lockPage(db, page)
  const deleted = rows.filter(({ state }) => state !== null)
  if (deleted.length > 0) {
    const ids = deleted.map(({ id }) => id)
    await sql`
      delete from billing.webhook_calls where id = any(${ids}::uuid[])`.execute(db)
  }
  return { deleted, last: rows.length < batchRows ? undefined : rows.at(-1)?.id }
}

/** Locked, so that no call is deleted that is replayed meanwhile. */
async function lockPage(
  db: Kysely<Tables>,
  { retentionDays, before, after }: OldCalls & { readonly after: string },
): Promise<readonly OldCall[]> {
  const { rows } = await sql<OldCall>`
    with page as materialized (
      select id from billing.webhook_calls
      where id > ${after}::uuid and id < ${before}::uuid
      order by id limit ${batchRows}
    ), old as materialized (
      select id, state from billing.webhook_calls
      where id in (select id from page) and ${prunable(retentionDays)}
      for update skip locked
    )
    select page.id, old.state
    from page left join old on old.id = page.id
    order by page.id`.execute(db)
  return rows
}
