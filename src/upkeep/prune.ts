import { sql, type Kysely, type RawBuilder } from 'kysely'
import pg from 'pg'
import type { Database } from '../database/connect.ts'
import { interval } from '../database/interval.ts'
import type { Tables } from '../database/tables.ts'
import { days, minutes } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'

/** What was deleted. */
export interface PruneResult {
  readonly deletedCalls: number
  /** Of those, calls that had failed for good. */
  readonly deletedFailedCalls: number
}

export interface PruneOptions {
  readonly retentionDays: number
  readonly log: Log
  /** Called after each batch, with how many calls are to be deleted in all. */
  readonly onProgress?: (deletedCalls: number, totalCalls: number) => void
  /** Ends the run between two batches. */
  readonly signal?: AbortSignal
}

const batchRows = 500
/** Between two batches, so that intake and processing go on undisturbed. */
const pauseMs = 20
const vacuumLimitMs = minutes(1)

/**
 * Deletes finished calls older than the window, in small transactions. Their events stay: they are
 * the claims, and an old callback sent once more must still fire nothing.
 */
export async function prune(database: Database, options: PruneOptions): Promise<PruneResult> {
  let deletedCalls = 0
  let deletedFailedCalls = 0
  const total = options.onProgress && (await countPrunable(database.db, options.retentionDays))
  for (;;) {
    const states = await deleteBatch(database.db, options.retentionDays)
    deletedCalls += states.length
    deletedFailedCalls += states.filter((state) => state === 'failed').length
    options.onProgress?.(deletedCalls, Math.max(total ?? 0, deletedCalls))
    if (states.length < batchRows) break
    options.signal?.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  if (database.kind === 'embedded' && deletedCalls > 0) await vacuum(database)
  if (deletedFailedCalls > 0) {
    options.log.warn({ calls: deletedFailedCalls }, 'pruned calls that had failed for good')
  }
  return { deletedCalls, deletedFailedCalls }
}

/** A server does it by itself; the embedded database has no autovacuum. */
async function vacuum(database: Database): Promise<void> {
  const client = new pg.Client({ ...database.connection, query_timeout: vacuumLimitMs })
  await client.connect()
  try {
    await client.query('vacuum (analyze) billing.webhook_calls')
    await client.query('vacuum (analyze) billing.deliveries')
  } finally {
    await client.end()
  }
}

function prunable(retentionDays: number): RawBuilder<unknown> {
  return sql`state in ('processed', 'ignored', 'failed')
    and received_at < clock_timestamp() - ${interval(days(retentionDays))}`
}

async function countPrunable(db: Kysely<Tables>, retentionDays: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from billing.webhook_calls
    where ${prunable(retentionDays)}`.execute(db)
  return rows[0]?.count ?? 0
}

async function deleteBatch(db: Kysely<Tables>, retentionDays: number): Promise<readonly string[]> {
  const { rows } = await sql<{ state: string }>`
    delete from billing.webhook_calls where id in (
      select id from billing.webhook_calls where ${prunable(retentionDays)}
      order by received_at limit ${batchRows} for update skip locked
    ) returning state`.execute(db)
  return rows.map((row) => row.state)
}
