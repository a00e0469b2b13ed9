import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely'
import { interval } from '../database/interval.ts'
import { missingListeners } from '../database/missing-listeners.ts'
import type { DeliveriesTable, Tables, WebhookCallsTable } from '../database/tables.ts'
import { minutes, seconds, type Duration } from '../kernel/duration.ts'

/** The tables whose rows are their own place in a queue. */
export type QueueTable = 'billing.webhook_calls' | 'billing.deliveries'

/** A row taken by this process; whoever does not hold its token changes nothing. */
export interface Lease {
  readonly id: string
  readonly token: string
}

const leaseLostName = 'LeaseLost'

/** Another worker has the row: whoever meets this rolls back and touches nothing. */
export function leaseLost(lease: Lease): Error {
  return Object.assign(new Error(`lease of ${lease.id} lost`), { name: leaseLostName })
}

export function isLeaseLost(error: unknown): boolean {
  return error instanceof Error && error.name === leaseLostName
}

export type LeasedCall = Lease &
  Pick<
    Selectable<WebhookCallsTable>,
    | 'gateway'
    | 'queue'
    | 'kind'
    | 'payload'
    | 'body'
    | 'body_encrypted'
    | 'attempts'
    | 'leases_lost'
    | 'times_returned'
  >

export type LeasedDelivery = Lease &
  Pick<
    Selectable<DeliveriesTable>,
    | 'event_id'
    | 'listener'
    | 'dedup_key'
    | 'event_type'
    | 'payment_id'
    | 'payment_method_id'
    | 'cause'
    | 'queue'
    | 'attempts'
    | 'leases_lost'
    | 'times_returned'
  >

export interface TakeOptions {
  readonly limit: number
  readonly token: string
  /** Names of the queues to take from; all of them if left out. */
  readonly queues?: readonly string[] | undefined
  /** Calls of these gateways; of all if left out. */
  readonly gateways?: readonly string[] | undefined
  /** Take rows that already cost a worker its life, which go one at a time. */
  readonly alone: boolean
  /** `name/type` of the listeners that this process has: without all known ones it takes nothing. */
  readonly listeners: readonly string[]
}

export const leaseLength: Duration = seconds(30)
/** A row that cost so many workers their lives is given up. */
const leasesBeforeFailure = 10

// The bytes matter only where there is no text, or one that hides something; they may be large.
const callColumns = sql`row.gateway, row.queue, row.kind, row.payload, row.body_encrypted,
  case when row.kind = 'unreadable' or row.body_encrypted then row.body end as body`
const deliveryColumns = sql`row.event_id, row.listener, row.dedup_key, row.event_type,
  row.payment_id, row.payment_method_id, row.cause, row.queue`

export function takeCalls(
  db: Kysely<Tables>,
  options: TakeOptions,
): Promise<readonly LeasedCall[]> {
  return take<LeasedCall>(db, 'billing.webhook_calls', { ...options, columns: callColumns })
}

export function takeDeliveries(
  db: Kysely<Tables>,
  options: TakeOptions,
): Promise<readonly LeasedDelivery[]> {
  return take<LeasedDelivery>(db, 'billing.deliveries', { ...options, columns: deliveryColumns })
}

/** Takes due rows, oldest first; rows that others hold are passed over. The database's clock rules. */
async function take<Row>(
  db: Kysely<Tables>,
  table: QueueTable,
  options: TakeOptions & { readonly columns: RawBuilder<unknown> },
): Promise<readonly Row[]> {
  const { queues, gateways } = options
  const inQueues = queues === undefined ? sql`` : sql`and queue = any(${[...queues]}::text[])`
  const ofGateways =
    gateways === undefined ? sql`` : sql`and gateway = any(${[...gateways]}::text[])`
  const losses = options.alone ? sql`leases_lost > 0` : sql`leases_lost = 0`
  const { rows } = await sql<Row>`
    update ${sql.table(table)} as row
    set state = 'processing', lease_token = ${options.token}::uuid,
      lease_until = clock_timestamp() + ${interval(leaseLength)}
    from (
      select id from ${sql.table(table)}
      where state = 'pending' and next_attempt_at <= now() and ${losses} ${inQueues} ${ofGateways}
        and not exists (${missingListeners(options.listeners)})
      order by next_attempt_at, id limit ${options.limit} for update skip locked
    ) as due
    where row.id = due.id
    returning row.id, row.lease_token as token, ${options.columns},
      row.attempts, row.leases_lost, row.times_returned`.execute(db)
  return rows
}

/** Whether due rows wait that already cost a worker its life. */
export async function anyAlone(db: Kysely<Tables>, table: QueueTable): Promise<boolean> {
  const { rows } = await sql`
    select 1 from ${sql.table(table)}
    where state = 'pending' and next_attempt_at <= now() and leases_lost > 0 limit 1`.execute(db)
  return rows.length > 0
}

/** Keeps what is still being worked on. A row that is locked is being ended: not waited for. */
export async function extendLeases(
  db: Kysely<Tables>,
  table: QueueTable,
  leases: readonly Lease[],
): Promise<void> {
  await sql`
    update ${sql.table(table)} as row
    set lease_until = clock_timestamp() + ${interval(leaseLength)}
    from (
      select id from ${sql.table(table)}
      where id = any(${leases.map((lease) => lease.id)}::uuid[])
        and lease_token = any(${leases.map((lease) => lease.token)}::uuid[])
      for no key update skip locked
    ) as held
    where row.id = held.id`.execute(db)
}

/** Gives rows back untouched, for another worker to take at once. */
export async function releaseLeases(
  db: Kysely<Tables>,
  table: QueueTable,
  leases: readonly Lease[],
): Promise<void> {
  if (leases.length === 0) return
  await sql`
    update ${sql.table(table)}
    set state = 'pending', lease_token = null, lease_until = null
    where id = any(${leases.map((lease) => lease.id)}::uuid[])
      and lease_token = any(${leases.map((lease) => lease.token)}::uuid[])`.execute(db)
}

/** Gives a row back after a passing failure: no attempt is used. */
export async function returnLease(
  db: Kysely<Tables>,
  table: QueueTable,
  options: { readonly lease: Lease; readonly after: Duration },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update ${sql.table(table)}
    set state = 'pending', lease_token = null, lease_until = null,
      times_returned = times_returned + 1,
      next_attempt_at = clock_timestamp() + ${interval(options.after)}
    where id = ${options.lease.id}::uuid and lease_token = ${options.lease.token}::uuid`.execute(db)
  return numAffectedRows === 1n
}

/** Ends a delivery that is done; false where the lease is lost. */
export async function finishDelivery(db: Kysely<Tables>, leased: LeasedDelivery): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update billing.deliveries
    set state = 'processed', exception = null, lease_token = null, lease_until = null,
      processed_at = clock_timestamp()
    where id = ${leased.id}::uuid and lease_token = ${leased.token}::uuid`.execute(db)
  return numAffectedRows === 1n
}

/** By the age of a call: the longer it has waited, the longer it waits again. */
const shortestPostponement: Duration = seconds(10)
const longestPostponement: Duration = minutes(10)

/**
 * Gives a call back that somebody else keeps waiting, and says why: no attempt is used. How long the
 * next one will wait; undefined where it has waited longer than `patience`, and nothing is changed.
 */
export async function postponeLease(
  db: Kysely<Tables>,
  options: { readonly lease: Lease; readonly patience: Duration; readonly exception: string },
): Promise<Duration | undefined> {
  const { lease, patience, exception } = options
  const { rows } = await sql<{ pause: number }>`
    with waiting as (
      select id, least(greatest(clock_timestamp() - received_at, ${interval(shortestPostponement)}),
        ${interval(longestPostponement)}) as pause
      from billing.webhook_calls
      where id = ${lease.id}::uuid and lease_token = ${lease.token}::uuid
        and received_at > clock_timestamp() - ${interval(patience)}
      for update
    )
    update billing.webhook_calls as call
    set state = 'pending', lease_token = null, lease_until = null, exception = ${exception},
      next_attempt_at = clock_timestamp() + waiting.pause
    from waiting where call.id = waiting.id
    returning extract(epoch from waiting.pause)::float8 * 1000 as pause`.execute(db)
  return rows[0]?.pause
}

/**
 * Records a failed attempt: `after` the next one is due, or none (`undefined`) and it has failed. A
 * call that has failed is marked for a person: what it tells may be money, and nobody else looks.
 */
export async function failLease(
  db: Kysely<Tables>,
  table: QueueTable,
  options: {
    readonly lease: Lease
    readonly after: Duration | undefined
    readonly exception: string
    /** The payment that a call is about, once that is known. */
    readonly paymentId?: string | undefined
    /** What was made of a call needs a person; one that was marked before stays so. */
    readonly review?: boolean | undefined
  },
): Promise<boolean> {
  const about =
    options.paymentId === undefined ? sql`` : sql`payment_id = ${options.paymentId}::uuid,`
  const needsReview = options.review === true || options.after === undefined
  const mark = marks(table) && needsReview ? sql`needs_review = true,` : sql``
  const next =
    options.after === undefined
      ? sql`state = 'failed', processed_at = clock_timestamp()`
      : sql`state = 'pending', next_attempt_at = clock_timestamp() + ${interval(options.after)}`
  const { numAffectedRows } = await sql`
    update ${sql.table(table)}
    set attempts = attempts + 1, exception = ${options.exception}, ${about} ${mark}
      lease_token = null, lease_until = null, ${next}
    where id = ${options.lease.id}::uuid and lease_token = ${options.lease.token}::uuid`.execute(db)
  return numAffectedRows === 1n
}

/** Only calls are marked for a person. */
function marks(table: QueueTable): boolean {
  return table === 'billing.webhook_calls'
}

export interface ExpiredLeases {
  /** Back in the queue. */
  readonly requeued: number
  /** Given up as `worker lost`. */
  readonly failed: number
}

/** Takes rows back from workers that died or hang. */
export async function expireLeases(db: Kysely<Tables>, table: QueueTable): Promise<ExpiredLeases> {
  const isGivenUp = sql`leases_lost + 1 >= ${leasesBeforeFailure}`
  const mark = marks(table) ? sql`needs_review = needs_review or ${isGivenUp},` : sql``
  const { rows } = await sql<{ state: string }>`
    update ${sql.table(table)} as row
    set state = case when ${isGivenUp} then 'failed' else 'pending' end, ${mark}
      exception = case when ${isGivenUp}
        then 'worker lost: ' || (leases_lost + 1) || ' workers died while they held this row'
        else exception end,
      leases_lost = leases_lost + 1, next_attempt_at = clock_timestamp(),
      processed_at = case when ${isGivenUp} then clock_timestamp() end,
      lease_token = null, lease_until = null
    from (
      select id from ${sql.table(table)}
      where state = 'processing' and lease_until < now()
      order by lease_until limit 1000 for update skip locked
    ) as lost
    where row.id = lost.id
    returning row.state`.execute(db)
  const failed = rows.filter((row) => row.state === 'failed').length
  return { requeued: rows.length - failed, failed }
}
