import { sql, type Kysely, type RawBuilder } from 'kysely'
import { interval } from '../database/interval.ts'
import { missingListeners } from '../database/missing-listeners.ts'
import type { Tables } from '../database/tables.ts'
import { minutes, seconds, type Duration } from '../kernel/duration.ts'
import type { Lease, QueueRow, QueueTable } from './leased-table.ts'
import { endLeases, take, type ColumnOfRows, type Take } from './leases.ts'

/**
 * How rows of a queue are taken, and every way in which they end, whatever their table: finished,
 * failed, returned (a passing failure), postponed (their provider is away), released (for another
 * worker), expired (their worker died); and how an ended row comes back.
 */

export interface TakeOptions extends Take {
  /** Names of the queues to take from; all if left out. */
  readonly queues?: readonly string[] | undefined
  /** Calls of these gateways; of all if left out. */
  readonly gateways?: readonly string[] | undefined
  /** Take rows that already cost a worker its life; these go one at a time. */
  readonly alone: boolean
  /** `name/type` of the listeners that this process has: without all known ones it takes nothing. */
  readonly listeners: readonly string[]
}

/** How long a worker that does not extend them holds rows. */
export const queueLease: Duration = seconds(30)

/** Takes due rows of a queue, oldest first. */
export function takeRows<Row extends QueueRow>(
  db: Kysely<Tables>,
  table: QueueTable<Row>,
  { queues, gateways, alone, listeners, ...look }: TakeOptions,
): Promise<readonly Row[]> {
  const inQueues = queues === undefined ? sql`` : sql`and queue = any(${[...queues]}::text[])`
  const due = sql`state = 'pending' and next_attempt_at <= now()
    and ${alone ? sql`leases_lost > 0` : sql`leases_lost = 0`} ${inQueues}
    ${mayBeTaken(table, gateways)} and not exists (${missingListeners(listeners)})
    order by next_attempt_at, id`
  const columns = sql<Omit<Row, keyof Lease>>`${table.columns}, row.attempts, row.leases_lost,
    row.times_returned`
  return take(db, table, { ...look, due, columns, taking: sql`state = 'processing'` })
}

/**
 * Whether due rows wait that already cost a worker its life. Those that this process must not take
 * must not make it wait.
 */
export async function anyAlone(
  db: Kysely<Tables>,
  table: QueueTable,
  gateways?: TakeOptions['gateways'],
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from ${sql.table(table.name)} as due
    where state = 'pending' and next_attempt_at <= now() and leases_lost > 0
      ${mayBeTaken(table, gateways)} limit 1`.execute(db)
  return rows.length > 0
}

function mayBeTaken(
  { kind, isNext }: Pick<QueueTable, 'kind' | 'isNext'>,
  gateways: TakeOptions['gateways'],
): RawBuilder<unknown> {
  return sql`${kind === undefined ? sql`` : sql`and ${kind}`}
    ${gateways === undefined ? sql`` : sql`and gateway = any(${[...gateways]}::text[])`}
    ${isNext === undefined ? sql`` : sql`and ${isNext}`}`
}

/** What puts an ended row back into the queue as if it had just come. */
export const asNew = sql`
  state = 'pending', attempts = 0, leases_lost = 0, times_returned = 0,
  next_attempt_at = statement_timestamp(), processed_at = null`

const waits = sql`state = 'pending'`

/** Finishes rows, and writes further columns. Returns those whose lease is lost. */
export async function finishRows(
  db: Kysely<Tables>,
  table: QueueTable,
  finished: {
    readonly leases: readonly Lease[]
    readonly columns?: Readonly<Record<string, ColumnOfRows>>
  },
): Promise<readonly Lease[]> {
  const { leases } = finished
  const rows = await endLeases(db, table, {
    leases,
    set: sql`exception = null, processed_at = statement_timestamp()`,
    columns: {
      state: { type: 'text', values: leases.map(() => 'processed') },
      ...finished.columns,
    },
    prepared: table.name.replaceAll(/\W|_/g, '-'),
  })
  const ours = new Set(rows.map(({ id }) => id))
  return leases.filter(({ id }) => !ours.has(id))
}

/** Releases rows untouched, for another worker to take at once. */
export async function releaseRows(
  db: Kysely<Tables>,
  table: QueueTable,
  leases: readonly Lease[],
): Promise<void> {
  await endLeases(db, table, { leases, set: waits })
}

/** Releases all rows that were taken under these tokens; the caller does not know which. */
export async function releaseTaken(
  db: Kysely<Tables>,
  table: QueueTable,
  tokens: readonly string[],
): Promise<void> {
  await sql`
    update ${sql.table(table.name)} set ${waits}, lease_token = null, lease_until = null
    where state = 'processing' and lease_token = any(${[...tokens]}::uuid[])`.execute(db)
}

/** Returns a row after a passing failure: no attempt is used. False where the lease is lost. */
export async function returnRow(
  db: Kysely<Tables>,
  table: QueueTable,
  { lease, after }: { readonly lease: Lease; readonly after: Duration },
): Promise<boolean> {
  const rows = await endLeases(db, table, {
    leases: [lease],
    set: sql`${waits}, times_returned = times_returned + 1, next_attempt_at = ${dueIn(after)}`,
  })
  return rows.length > 0
}

/** By the age of a row: the longer it has waited, the longer it waits again. */
const shortestPostponement: Duration = seconds(10)
const longestPostponement: Duration = minutes(10)

/**
 * Postpones a row that waits for somebody else, and says why: no attempt is used. Returns how long
 * until the next try; undefined if the row has waited longer than `patience`, and then nothing
 * changes.
 */
export async function postponeRow(
  db: Kysely<Tables>,
  table: QueueTable,
  postponed: { readonly lease: Lease; readonly patience: Duration; readonly exception: string },
): Promise<Duration | undefined> {
  const { lease, patience, exception } = postponed
  const came = sql`row.${sql.ref(table.cameAt)}`
  const pause = sql`least(greatest(statement_timestamp() - ${came}, ${interval(shortestPostponement)}),
    ${interval(longestPostponement)})`
  const [row] = await endLeases<{ came: Date; next: Date }>(db, table, {
    leases: [lease],
    set: sql`${waits}, exception = ${exception}, next_attempt_at = statement_timestamp() + ${pause}`,
    isStill: sql`${came} > statement_timestamp() - ${interval(patience)}`,
    returning: sql`${came} as came, row.next_attempt_at as next`,
  })
  if (row === undefined) return undefined
  // Within the bounds, the next try comes when the row is twice as old as now.
  const asOld = (row.next.getTime() - row.came.getTime()) / 2
  return Math.min(Math.max(asOld, shortestPostponement), longestPostponement)
}

/** A failed attempt. */
export interface FailedRow {
  readonly lease: Lease
  /** When the next one is due; undefined: there is none, the row has failed for good. */
  readonly after: Duration | undefined
  readonly exception: string
  /** Further columns that are known by now. */
  readonly columns?: Readonly<Record<string, unknown>>
  /** The result needs a person; a row that was marked before stays marked. */
  readonly review?: boolean | undefined
}

/**
 * Records a failed attempt. If the table has marks, what has failed for good is marked for a
 * person: it may be money, and nobody else looks. False if the lease is lost.
 */
export async function failRow(
  db: Kysely<Tables>,
  table: QueueTable,
  { lease, after, exception, columns = {}, review = false }: FailedRow,
): Promise<boolean> {
  const isOver = after === undefined
  const mark = table.isReviewed && (review || isOver) ? sql`, needs_review = true` : sql``
  const known = Object.entries(columns).map(
    ([column, value]) => sql`, ${sql.ref(column)} = ${value}`,
  )
  const next = isOver
    ? sql`state = 'failed', processed_at = statement_timestamp()`
    : sql`${waits}, next_attempt_at = ${dueIn(after)}`
  const rows = await endLeases(db, table, {
    leases: [lease],
    set: sql`attempts = attempts + 1, exception = ${exception}, ${next} ${mark}
      ${sql.join(known, sql``)}`,
  })
  return rows.length > 0
}

function dueIn(length: Duration): RawBuilder<unknown> {
  return sql`statement_timestamp() + ${interval(length)}`
}

/** A row that has cost this many workers their lives is given up. */
const leasesBeforeFailure = 10

export interface ExpiredRows {
  /** Back in the queue. */
  readonly requeued: number
  /** Ids of those that are given up as `worker lost`. */
  readonly failed: readonly string[]
}

/** Takes rows back from workers that died or hang. */
export async function expireRows(db: Kysely<Tables>, table: QueueTable): Promise<ExpiredRows> {
  const { name, isReviewed } = table
  const mark = isReviewed ? sql`needs_review = needs_review or lost.is_given_up,` : sql``
  // A CASE may hold no function that is not immutable where tables are distributed.
  const { rows } = await sql<{ id: string; is_given_up: boolean }>`
    update ${sql.table(name)} as row
    set state = case when lost.is_given_up then 'failed' else 'pending' end,
      ${mark}
      exception = case when lost.is_given_up
        then 'worker lost: ' || (leases_lost + 1) || ' workers died while they held this row'
        else exception end,
      leases_lost = leases_lost + 1, next_attempt_at = lost.now,
      processed_at = case when lost.is_given_up then lost.now end,
      lease_token = null, lease_until = null
    from (
      select id, statement_timestamp() as now,
        leases_lost + 1 >= ${leasesBeforeFailure} as is_given_up
      from ${sql.table(name)}
      where state = 'processing' and lease_until < now()
      order by lease_until limit 1000 for update skip locked
    ) as lost
    where row.id = lost.id
    returning row.id, lost.is_given_up`.execute(db)
  const failed = rows.filter((row) => row.is_given_up).map(({ id }) => id)
  return { requeued: rows.length - failed.length, failed }
}
