import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely'
import pg from 'pg'
import type { Database } from '../database/connect.ts'
import { interval } from '../database/interval.ts'
import { databaseNow } from '../database/now.ts'
import type { Tables, WebhookCallsTable } from '../database/tables.ts'
import { days, hours, minutes } from '../kernel/duration.ts'
import { idAt } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'

/** What was deleted, and what is kept for a person. */
export interface PruneResult {
  readonly deletedCalls: number
  /** Of these, calls that had failed for good. */
  readonly deletedFailedCalls: number
  /** Of these, calls that needed a person for so long that they are given up. */
  readonly deletedReviewCalls: number
  /** Older than the window, and kept because nobody has looked at them. */
  readonly keptReviewCalls: number
}

export interface PruneOptions {
  readonly retentionDays: number
  readonly log: Log
  /** Called after each batch, with the total number of calls to delete. */
  readonly onProgress?: (deletedCalls: number, totalCalls: number) => void
  /** Ends the run between two batches. */
  readonly signal?: AbortSignal
}

/** Money may have moved, so what needs a person is kept longer; but personal data not for ever. */
export const longestReviewDays = 400

const batchRows = 500
/** Between two batches, so that intake and processing go on undisturbed. */
const pauseMs = 20
const vacuumLimitMs = minutes(1)

/**
 * Deletes finished calls older than the window, in small transactions. Their events stay: they are
 * the claims, and an old callback sent once more must still fire nothing. Calls that need a person
 * also stay, for 400 days at most, failed ones included: their event may never have been
 * dispatched.
 */
export async function prune(database: Database, options: PruneOptions): Promise<PruneResult> {
  const { retentionDays, onProgress, log } = options
  const deleted = { calls: 0, failed: 0, review: 0 }
  const old = { retentionDays, before: await oldBefore(database.db, retentionDays) }
  // Only for display: counting a backlog of millions takes longer than a statement may.
  const total = onProgress && (await countPrunable(database.db, old).catch(() => 0))
  let after = idAt(new Date(0))
  for (;;) {
    const batch = await pruneBatch(database.db, { ...old, after })
    deleted.calls += batch.deleted.length
    deleted.failed += batch.deleted.filter(({ state }) => state === 'failed').length
    deleted.review += batch.deleted.filter((call) => call.needs_review).length
    onProgress?.(deleted.calls, Math.max(total ?? 0, deleted.calls))
    if (batch.last === undefined) break
    after = batch.last
    options.signal?.throwIfAborted()
    if (batch.deleted.length > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  if (database.kind === 'embedded' && deleted.calls > 0) await vacuum(database)
  const result = {
    deletedCalls: deleted.calls,
    deletedFailedCalls: deleted.failed,
    deletedReviewCalls: deleted.review,
    keptReviewCalls: await countKept(database.db, retentionDays),
  }
  warn(result, log)
  return result
}

function warn(result: PruneResult, log: Log): void {
  const { deletedFailedCalls, deletedReviewCalls, keptReviewCalls } = result
  if (deletedFailedCalls > 0) {
    log.warn({ calls: deletedFailedCalls }, 'pruned calls that had failed for good')
  }
  if (deletedReviewCalls > 0) {
    log.warn({ calls: deletedReviewCalls }, 'pruned calls that nobody had looked at')
  }
  if (keptReviewCalls > 0) {
    log.warn({ calls: keptReviewCalls }, 'calls are kept that need a person to look at them')
  }
}

/** A server does this on its own; the embedded database has no autovacuum. */
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

/** A failed call is marked, unless an older version gave it up. */
const needsPerson = sql`(needs_review or state = 'failed')`

function prunable(retentionDays: number): RawBuilder<unknown> {
  const reviewDays = Math.max(retentionDays, longestReviewDays)
  return sql`state in ('processed', 'ignored', 'failed') and ${olderThan(retentionDays)}
    and (not ${needsPerson} or ${olderThan(reviewDays)})`
}

async function countPrunable(
  db: Kysely<Tables>,
  { retentionDays, before }: OldCalls,
): Promise<number> {
  return count(db, sql`${prunable(retentionDays)} and id < ${before}::uuid`)
}

async function countKept(db: Kysely<Tables>, retentionDays: number): Promise<number> {
  return count(db, sql`${needsPerson} and ${olderThan(retentionDays)}`)
}

async function count(db: Kysely<Tables>, where: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from billing.webhook_calls where ${where}`.execute(db)
  return rows[0]?.count ?? 0
}

type DeletedCall = Pick<Selectable<WebhookCallsTable>, 'state' | 'needs_review'>

/**
 * Looks at this many old calls, whether they are kept or not: a great many kept ones make the run
 * longer, but no single statement.
 */
async function pruneBatch(
  db: Kysely<Tables>,
  { retentionDays, before, after }: OldCalls & { readonly after: string },
): Promise<{ readonly deleted: readonly DeletedCall[]; readonly last: string | undefined }> {
  const { rows } = await sql<{ id: string; deleted: boolean } & DeletedCall>`
    with page as materialized (
      select id from billing.webhook_calls
      where id > ${after}::uuid and id < ${before}::uuid
      order by id limit ${batchRows}
    ), gone as (
      delete from billing.webhook_calls where id in (
        select id from billing.webhook_calls
        where id in (select id from page) and ${prunable(retentionDays)} for update skip locked
      ) returning id, state, needs_review
    )
    select page.id, gone.state, gone.needs_review, gone.id is not null as deleted
    from page left join gone on gone.id = page.id
    order by page.id`.execute(db)
  return {
    deleted: rows.filter(({ deleted }) => deleted),
    last: rows.length < batchRows ? undefined : rows.at(-1)?.id,
  }
}
