import { sql, type Kysely, type RawBuilder } from 'kysely'
import { databaseNow } from '../database/now.ts'
import type { Tables } from '../database/tables.ts'
import { requeued } from '../outcomes/waiting-calls.ts'
import { asNew } from '../leases/queue-rows.ts'
import { failedDeferredEvents, failedDeliveries, type FailedEvents } from './failed-deliveries.ts'

/** Which failed calls and deliveries; all of them if left out. */
export interface FailedQuery {
  /** Only calls of this gateway, and deliveries about its payments, cards and subscriptions. */
  readonly gateway?: string
  /** Only calls received, and deliveries created, at that time or later. */
  readonly since?: Date
}

/** How many are back in the queue. */
export interface ReplayFailedResult {
  readonly replayedCalls: number
  /** Deliveries to queued listeners, and deferred events, that had failed for good. */
  readonly replayedDeliveries: number
}

export interface ReplayFailedOptions extends FailedQuery {
  /** Calls wait again. */
  readonly announce: () => Promise<void>
  readonly onProgress?: (done: number, total: number) => void
}

const batchRows = 100

const eventKinds = [failedDeliveries, failedDeferredEvents]

/**
 * Puts every call and delivery that failed before the run began back into the queue, in small
 * transactions. What somebody else replayed meanwhile is skipped; a run that was cut short
 * continues where it ended when it is started again.
 */
export async function replayFailed(
  db: Kysely<Tables>,
  options: ReplayFailedOptions,
): Promise<ReplayFailedResult> {
  // A whole millisecond, like the times of the rows.
  const before = new Date((await databaseNow(db)).getTime() + 1)
  let total = await countCalls(db, options)
  for (const events of eventKinds) total += await countEvents(db, events, options)
  let replayedCalls = 0
  let replayedDeliveries = 0
  for (;;) {
    const ids = await replayCalls(db, whichCalls(options, before))
    replayedCalls += ids.length
    if (ids.length > 0) await options.announce()
    options.onProgress?.(replayedCalls, total)
    if (ids.length < batchRows) break
  }
  for (const events of eventKinds) {
    for (;;) {
      const count = await replayEvents(db, events, whichEvents(events, options, before))
      replayedDeliveries += count
      options.onProgress?.(replayedCalls + replayedDeliveries, total)
      if (count < batchRows) break
    }
  }
  return { replayedCalls, replayedDeliveries }
}

async function countCalls(db: Kysely<Tables>, query: FailedQuery): Promise<number> {
  const { rows } = await sql<{ calls: number }>`
    select count(*)::int as calls from billing.webhook_calls as call
    where ${whichCalls(query)}`.execute(db)
  return rows[0]?.calls ?? 0
}

async function countEvents(
  db: Kysely<Tables>,
  events: FailedEvents,
  query: FailedQuery,
): Promise<number> {
  const { rows } = await sql<{ events: number }>`
    select count(*)::int as events from ${sql.table(events.name)} as failed
    where ${whichEvents(events, query)}`.execute(db)
  return rows[0]?.events ?? 0
}

/** One that fails again while the run lasts is not taken twice. */
function whichCalls({ gateway, since }: FailedQuery, before?: Date): RawBuilder<unknown> {
  return sql`call.state = 'failed'
    ${before === undefined ? sql`` : sql`and call.processed_at <= ${before}`}
    ${gateway === undefined ? sql`` : sql`and call.gateway = ${gateway}`}
    ${since === undefined ? sql`` : sql`and call.received_at >= ${since}`}`
}

function whichEvents(
  { isAbout }: FailedEvents,
  { gateway, since }: FailedQuery,
  before?: Date,
): RawBuilder<unknown> {
  return sql`state = 'failed'
    ${before === undefined ? sql`` : sql`and failed.processed_at <= ${before}`}
    ${gateway === undefined ? sql`` : sql`and ${isAbout(gateway)}`}
    ${since === undefined ? sql`` : sql`and failed.created_at >= ${since}`}`
}

async function replayCalls(
  db: Kysely<Tables>,
  which: RawBuilder<unknown>,
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    update billing.webhook_calls set ${requeued}
    where id in (
      select id from billing.webhook_calls as call where ${which}
      order by received_at, id limit ${batchRows} for update skip locked
    ) returning id`.execute(db)
  return rows.map((row) => row.id)
}

/** Another run is waited for: if its rows were skipped, those behind them could come first. */
async function replayEvents(
  db: Kysely<Tables>,
  { name, order }: FailedEvents,
  which: RawBuilder<unknown>,
): Promise<number> {
  const { numAffectedRows } = await sql`
    update ${sql.table(name)} set ${asNew}
    where id in (
      select id from ${sql.table(name)} as failed where ${which}
      order by ${order} limit ${batchRows} for update
    )`.execute(db)
  return Number(numAffectedRows ?? 0n)
}
