import { sql } from 'kysely'
import type { Database } from '../database/connect.ts'
import { countUpTo, mostCounted } from '../database/count-up-to.ts'
import { readInOrder } from '../database/read-in-order.ts'

// What a diagnosis asks; each only reads.

export interface ServerFacts {
  /** Major version, e.g. 18. */
  readonly version: number
  readonly encoding: string
  readonly readOnly: boolean
  /** It replays what another server writes. */
  readonly standby: boolean
  readonly fsync: string
  readonly synchronousCommit: string
  /** As set; empty: commits wait for no standby. */
  readonly synchronousNames: string
  readonly fullPageWrites: string
}

export async function readServerFacts(database: Database): Promise<ServerFacts> {
  const { rows } = await sql<ServerFacts>`
    select current_setting('server_version_num')::int / 10000 as version,
      current_setting('server_encoding') as encoding,
      current_setting('transaction_read_only') = 'on' as "readOnly",
      current_setting('fsync') as fsync,
      pg_is_in_recovery() as standby,
      (select reset_val from pg_settings where name = 'synchronous_commit') as "synchronousCommit",
      current_setting('synchronous_standby_names') as "synchronousNames",
      current_setting('full_page_writes') as "fullPageWrites"`.execute(database.db)
  return only(rows)
}

/** A server that could take over. */
export interface Standby {
  readonly name: string
  /** `async`, `potential`, `sync` or `quorum`; null: this role may not see it. */
  readonly syncState: string | null
}

/** Receivers that replay the log: not backups, and not subscribers to some of the tables. */
export async function readStandbys(database: Database): Promise<readonly Standby[]> {
  const { rows } = await sql<Standby>`
    select coalesce(nullif(application_name, ''), 'a standby') as name, sync_state as "syncState"
    from pg_stat_replication as sender
    left join pg_replication_slots as slot on slot.active_pid = sender.pid
    where slot.slot_type is distinct from 'logical' and sender.state is distinct from 'backup'
    order by name`.execute(database.db)
  return rows
}

/** Calls that are not done with; each count ends at 10,001. */
export interface CallBacklog {
  readonly pending: number
  /** How long the oldest call that is due has been waiting. */
  readonly oldestPendingSeconds: number
  readonly processing: number
  /** Failed before, or waiting for a provider, and due at another time. */
  readonly retried: number
  readonly failed: number
}

/**
 * `gateways`: those that are known here; the calls of others wait for another process. Of those that are
 * pending, the 10,001 that have been due for longest are looked at.
 */
export async function readCallBacklog(
  database: Database,
  gateways?: readonly string[],
): Promise<CallBacklog> {
  const isKnown = gateways === undefined ? sql`true` : sql`gateway = any(${[...gateways]}::text[])`
  const isRetried = sql`attempts > 0 or exception is not null`
  const query = sql<CallBacklog>`
    with waiting as materialized (
      select gateway, next_attempt_at, ${isRetried} as is_retried
      from billing.webhook_calls where state = 'pending'
      order by next_attempt_at limit ${mostCounted}
    )
    select count(*)::int as pending,
      greatest(0, coalesce(round(extract(epoch from
        statement_timestamp() - min(next_attempt_at) filter (where ${isKnown}))), 0))::int
        as "oldestPendingSeconds",
      count(*) filter (where is_retried)::int as retried,
      ${countUpTo(sql`from billing.webhook_calls where state = 'processing'
        order by lease_until`)} as processing,
      ${countUpTo(sql`from billing.webhook_calls where state = 'failed'
        order by received_at, id`)} as failed
    from waiting`
  const { rows } = await readInOrder(database, (db) => query.execute(db))
  return only(rows)
}

/** A gateway that is not known here, and what of it is not done with. */
export interface UnknownGateway {
  readonly gateway: string
  readonly calls: number
  readonly subscriptions: number
}

/** What waits for a process that knows its gateway; reconciliation says so of payments. */
export async function readUnknownGateways(
  { db }: Database,
  known: readonly string[],
): Promise<readonly UnknownGateway[]> {
  const isUnknown = sql`gateway <> all(${[...known]}::text[])`
  const calls = await sql<Counted>`
    select gateway, count(*)::int as count from billing.webhook_calls
    where state in ('pending', 'processing') and ${isUnknown} group by gateway`.execute(db)
  const subscriptions = await sql<Counted>`
    select gateway, count(*)::int as count from billing.subscriptions
    where next_action_at is not null and ${isUnknown} group by gateway`.execute(db)
  const countIn = (rows: readonly Counted[], name: string) =>
    rows.find(({ gateway }) => gateway === name)?.count ?? 0
  const names = new Set([...calls.rows, ...subscriptions.rows].map(({ gateway }) => gateway))
  return [...names].toSorted().map((gateway) => ({
    gateway,
    calls: countIn(calls.rows, gateway),
    subscriptions: countIn(subscriptions.rows, gateway),
  }))
}

interface Counted {
  readonly gateway: string
  readonly count: number
}

/** What a person must look at. */
export interface OpenReviews {
  readonly count: number
  /** Since when the oldest of them has been waiting. */
  readonly oldestDays: number
}

export async function readOpenReviews({ db }: Database): Promise<OpenReviews> {
  const { rows } = await sql<OpenReviews>`
    select count(*)::int as count,
      coalesce(extract(day from statement_timestamp() - min(created_at)), 0)::int as "oldestDays"
    from billing.reviews where state = 'open'`.execute(db)
  return only(rows)
}

/** Failed for good; of 10,001 at most. */
export interface FailedDeliveries {
  readonly toListeners: number
  readonly deferredEvents: number
}

export async function readFailedDeliveries(database: Database): Promise<FailedDeliveries> {
  const query = sql<FailedDeliveries>`
    select count(event_id)::int as "toListeners", count(dedup_key)::int as "deferredEvents"
    from (select event_id, dedup_key from billing.deliveries where state = 'failed'
      order by id limit ${mostCounted}) as failed`
  const { rows } = await readInOrder(database, (db) => query.execute(db))
  return only(rows)
}

export interface ScheduleState {
  readonly name: string
  /** How long it has been due without running. */
  readonly overdueSeconds: number
  readonly lastError: string | null
}

export async function readSchedules(database: Database): Promise<readonly ScheduleState[]> {
  const { rows } = await sql<ScheduleState>`
    select name, last_error as "lastError",
      greatest(0, round(extract(epoch from statement_timestamp() - next_run_at)))::int
        as "overdueSeconds"
    from billing.schedules where held_reason is null order by name`.execute(database.db)
  return rows
}

function only<T>(rows: readonly T[]): T {
  const [row] = rows
  if (row === undefined) throw new Error('the database answered without a row')
  return row
}

/** What an endpoint was not sent. */
export interface Unsent {
  readonly endpointId: string
  /** Given up in the last seven days. */
  readonly failed: number
  /** Due again for over ten minutes. */
  readonly late: number
}

/** Of endpoints that take what they get, too: a single event may have failed ten times. */
export async function readUnsent({ db }: Database): Promise<readonly Unsent[]> {
  const { rows } = await sql<Unsent>`
    select endpoint_id as "endpointId",
      count(*) filter (where state = 'failed')::int as failed,
      count(*) filter (where state = 'pending')::int as late
    from billing.forwards
    where (state = 'failed' and updated_at > statement_timestamp() - interval '7 days')
      or (state = 'pending' and next_attempt_at < statement_timestamp() - interval '10 minutes')
    group by endpoint_id`.execute(db)
  return rows
}

/** Events that have had no place in the feed for over a minute. */
export async function readUnnumbered({ db }: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from billing.events
    where position is null and created_at < statement_timestamp() - interval '1 minute'`.execute(db)
  return only(rows).count
}
