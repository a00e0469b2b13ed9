import { sql, type Kysely, type RawBuilder } from 'kysely'
import { countUpTo } from './count-up-to.ts'
import type { Tables } from './tables.ts'

/** How much of what failed is read. */
export interface FailedBounds {
  /** The newest rows. */
  readonly rows: number
  /** Groups of them, those with the newest first. */
  readonly groups: number
  /** Ids of each group, the newest first. */
  readonly ids: number
  /** Characters of each exception's first line. */
  readonly line: number
}

/** Of the rows of one table that failed with the same exception. */
interface FailedRows {
  readonly count: number
  readonly newestAt: Date
  readonly ids: readonly string[]
}

export interface FailedCalls extends FailedRows {
  readonly gateway: string
  /** The first line of the exception. */
  readonly line: string
}

export interface FailedDeliveries extends FailedRows {
  readonly listener: string
  readonly line: string
}

export interface FailedDeferredEvents extends FailedRows {
  readonly eventType: string
  readonly line: string
}

/** Of one endpoint; the ids are those of events. */
export interface FailedForwards extends FailedRows {
  readonly endpointId: string
  /** Null: it is gone. */
  readonly endpoint: string | null
}

const grouped = (at: RawBuilder<unknown>, id: RawBuilder<unknown>, ids: number) => sql`
  count(*)::int as count, max(${at}) as "newestAt",
  (array_agg(${id} order by ${at} desc, ${id} desc))[1:${sql.lit(ids)}] as ids`

const lineOf = (length: number) =>
  sql`left(split_part(left(coalesce(exception, ''), ${length}::int), chr(10), 1), ${length}::int)`

export async function readFailedCalls(
  db: Kysely<Tables>,
  { rows: most, groups, ids, line }: FailedBounds,
): Promise<readonly FailedCalls[]> {
  const { rows } = await sql<FailedCalls>`
    select gateway, line, ${grouped(sql`received_at`, sql`id`, ids)}
    from (
      select id, gateway, received_at, ${lineOf(line)} as line
      from billing.webhook_calls where state = 'failed'
      order by received_at desc, id desc limit ${most}
    ) as failed
    group by gateway, line order by "newestAt" desc limit ${groups}`.execute(db)
  return rows
}

export async function readFailedDeliveries(
  db: Kysely<Tables>,
  { rows: most, groups, ids, line }: FailedBounds,
): Promise<readonly FailedDeliveries[]> {
  const { rows } = await sql<FailedDeliveries>`
    select listener, line, ${grouped(sql`created_at`, sql`id`, ids)}
    from (
      select id, listener, created_at, ${lineOf(line)} as line
      from billing.deliveries where state = 'failed'
      order by id desc limit ${most}
    ) as failed
    group by listener, line order by "newestAt" desc limit ${groups}`.execute(db)
  return rows
}

export async function readFailedDeferredEvents(
  db: Kysely<Tables>,
  { rows: most, groups, ids, line }: FailedBounds,
): Promise<readonly FailedDeferredEvents[]> {
  const { rows } = await sql<FailedDeferredEvents>`
    select type as "eventType", line, ${grouped(sql`created_at`, sql`id`, ids)}
    from (
      select id, type, created_at, ${lineOf(line)} as line
      from billing.deferred_events where state = 'failed'
      order by id desc limit ${most}
    ) as failed
    group by type, line order by "newestAt" desc limit ${groups}`.execute(db)
  return rows
}

export async function readFailedForwards(
  db: Kysely<Tables>,
  { rows: most, groups, ids }: FailedBounds,
): Promise<readonly FailedForwards[]> {
  const { rows } = await sql<FailedForwards>`
    select failed.*, endpoint.name as endpoint
    from (
      select endpoint_id as "endpointId", ${grouped(sql`updated_at`, sql`event_id`, ids)}
      from (
        select endpoint_id, event_id, updated_at from billing.forwards where state = 'failed'
        order by updated_at desc, endpoint_id desc, event_id desc limit ${most}
      ) as newest
      group by endpoint_id
    ) as failed
    left join billing.endpoints as endpoint on endpoint.id = failed."endpointId"
    order by "newestAt" desc limit ${groups}`.execute(db)
  return rows
}

/** How a request to an endpoint ended. */
export interface LastAttempt {
  readonly endpointId: string
  readonly eventId: string
  readonly result: string
  readonly status: number | null
}

/** The last request of each event to each endpoint, of these. */
export async function readLastAttempts(
  db: Kysely<Tables>,
  of: readonly { readonly endpointId: string; readonly eventId: string }[],
): Promise<readonly LastAttempt[]> {
  if (of.length === 0) return []
  const { rows } = await sql<LastAttempt>`
    select distinct on (attempt.endpoint_id, attempt.event_id) attempt.endpoint_id as "endpointId",
      attempt.event_id as "eventId", attempt.result, attempt.status
    from unnest(
      ${of.map(({ endpointId }) => endpointId)}::uuid[], ${of.map(({ eventId }) => eventId)}::uuid[]
    ) as wanted (endpoint_id, event_id)
    join billing.forward_attempts as attempt
      on attempt.event_id = wanted.event_id and attempt.endpoint_id = wanted.endpoint_id
    order by attempt.endpoint_id, attempt.event_id, attempt.id desc`.execute(db)
  return rows
}

/** How many failed for good, up to 10,001 of each. */
export interface FailedCounts {
  readonly calls: number
  /** To queued listeners. */
  readonly deliveries: number
  readonly deferredEvents: number
  readonly forwards: number
}

type FailedQueued = Pick<FailedCounts, 'deliveries' | 'deferredEvents'>

export async function countFailed(db: Kysely<Tables>): Promise<FailedCounts> {
  const calls = await countFailedCalls(db)
  return { calls, ...(await countFailedQueued(db)), forwards: await countFailedForwards(db) }
}

export const countFailedCalls = (db: Kysely<Tables>) =>
  countFailedOf(db, sql`billing.webhook_calls where state = 'failed' order by received_at, id`)

export const countFailedForwards = (db: Kysely<Tables>) =>
  countFailedOf(
    db,
    sql`billing.forwards where state = 'failed' order by updated_at, endpoint_id, event_id`,
  )

async function countFailedOf(db: Kysely<Tables>, failed: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select ${countUpTo(sql`from ${failed}`)} as count`.execute(db)
  return rows[0]?.count ?? 0
}

export async function countFailedQueued(db: Kysely<Tables>): Promise<FailedQueued> {
  const { rows } = await sql<FailedQueued>`
    select
      ${countUpTo(sql`from billing.deliveries where state = 'failed' order by id`)} as deliveries,
      ${countUpTo(sql`from billing.deferred_events where state = 'failed' order by id`)}
        as "deferredEvents"`.execute(db)
  return rows[0] ?? { deliveries: 0, deferredEvents: 0 }
}
