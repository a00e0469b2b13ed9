import { sql, type Kysely, type RawBuilder } from 'kysely'
import { interval } from '../database/interval.ts'
import { named } from '../database/named-statements.ts'
import type { Tables } from '../database/tables.ts'
import { minutes, seconds, type Duration } from '../kernel/duration.ts'
import type { Lease, LeasedTable } from './leased-table.ts'

/**
 * Every way in which a leased row ends, whatever its table: finished, failed, returned (a passing
 * failure), postponed (its provider is away), released (for another worker), expired (its worker
 * died); and how an ended row comes back.
 */

const unleased = sql`lease_token = null, lease_until = null`

/** What puts an ended row back into the queue as if it had just come. */
export const asNew = sql`
  state = 'pending', attempts = 0, leases_lost = 0, times_returned = 0,
  next_attempt_at = statement_timestamp(), processed_at = null`

function isHeld({ id, token }: Lease): RawBuilder<unknown> {
  return sql`id = ${id}::uuid and lease_token = ${token}::uuid`
}

/** A column that is written when rows are finished, with a value for each row. */
export interface FinishedColumn {
  readonly type: 'text' | 'json' | 'jsonb' | 'boolean' | 'uuid'
  readonly values: readonly unknown[]
  /** The values are added to the list that is there; if there is none, there will be none. */
  readonly isAdded?: boolean
}

/** Finishes rows, and writes further columns. Returns those whose lease is lost. */
export async function finishRows(
  db: Kysely<Tables>,
  { name }: LeasedTable,
  finished: {
    readonly leases: readonly Lease[]
    readonly columns?: Readonly<Record<string, FinishedColumn>>
  },
): Promise<readonly Lease[]> {
  const { leases } = finished
  if (leases.length === 0) return []
  const columns = Object.entries<FinishedColumn>({
    state: { type: 'text', values: leases.map(() => 'processed') },
    ...finished.columns,
  })
  const set = columns.map(([column, { isAdded }]) => {
    const present = isAdded === true ? sql`row.${sql.ref(column)} || ` : sql``
    return sql`${sql.ref(column)} = ${present}finished.${sql.ref(column)}`
  })
  const lists = columns.map(([, { type, values }]) => sql`${[...values]}::${sql.raw(type)}[]`)
  const { rows } = await sql<{ id: string }>`${named(`finish-${name.replaceAll(/\W|_/g, '-')}`)}
    update ${sql.table(name)} as row
    set ${sql.join(set)}, exception = null, ${unleased}, processed_at = statement_timestamp()
    from unnest(
      ${leases.map(({ id }) => id)}::uuid[], ${leases.map(({ token }) => token)}::uuid[],
      ${sql.join(lists)}
    ) as finished (id, token, ${sql.join(columns.map(([column]) => sql.ref(column)))})
    where row.id = finished.id and row.lease_token = finished.token
    returning row.id`.execute(db)
  const ours = new Set(rows.map(({ id }) => id))
  return leases.filter(({ id }) => !ours.has(id))
}

/** Releases rows untouched, for another worker to take at once. */
export async function releaseRows(
  db: Kysely<Tables>,
  table: LeasedTable,
  leases: readonly Lease[],
): Promise<void> {
  if (leases.length === 0) return
  await sql`
    update ${sql.table(table.name)} set state = 'pending', ${unleased}
    where id = any(${leases.map(({ id }) => id)}::uuid[])
      and lease_token = any(${leases.map(({ token }) => token)}::uuid[])`.execute(db)
}

/** Releases whatever was taken under these tokens: which rows that were is not known. */
export async function releaseTaken(
  db: Kysely<Tables>,
  table: LeasedTable,
  tokens: readonly string[],
): Promise<void> {
  await sql`
    update ${sql.table(table.name)} set state = 'pending', ${unleased}
    where state = 'processing' and lease_token = any(${[...tokens]}::uuid[])`.execute(db)
}

/** Returns a row after a passing failure: no attempt is used. False where the lease is lost. */
export async function returnRow(
  db: Kysely<Tables>,
  table: LeasedTable,
  { lease, after }: { readonly lease: Lease; readonly after: Duration },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update ${sql.table(table.name)}
    set state = 'pending', ${unleased}, times_returned = times_returned + 1,
      next_attempt_at = statement_timestamp() + ${interval(after)}
    where ${isHeld(lease)}`.execute(db)
  return numAffectedRows === 1n
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
  table: LeasedTable,
  postponed: { readonly lease: Lease; readonly patience: Duration; readonly exception: string },
): Promise<Duration | undefined> {
  const { name, cameAt } = table
  const { lease, patience, exception } = postponed
  const came = sql.ref(cameAt)
  const { rows } = await sql<{ pause: number }>`
    with waiting as (
      select id, least(greatest(statement_timestamp() - ${came}, ${interval(shortestPostponement)}),
        ${interval(longestPostponement)}) as pause
      from ${sql.table(name)}
      where ${isHeld(lease)} and ${came} > statement_timestamp() - ${interval(patience)}
      for update
    )
    update ${sql.table(name)} as row
    set state = 'pending', ${unleased}, exception = ${exception},
      next_attempt_at = statement_timestamp() + waiting.pause
    from waiting where row.id = waiting.id
    returning extract(epoch from waiting.pause)::float8 * 1000 as pause`.execute(db)
  return rows[0]?.pause
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
  table: LeasedTable,
  { lease, after, exception, columns = {}, review = false }: FailedRow,
): Promise<boolean> {
  const { name, isReviewed } = table
  const isOver = after === undefined
  const mark = isReviewed && (review || isOver) ? sql`needs_review = true,` : sql``
  const also = Object.entries(columns).map(([column, value]) => sql`${sql.ref(column)} = ${value},`)
  const next = isOver
    ? sql`state = 'failed', processed_at = statement_timestamp()`
    : sql`state = 'pending', next_attempt_at = statement_timestamp() + ${interval(after)}`
  const { numAffectedRows } = await sql`
    update ${sql.table(name)}
    set attempts = attempts + 1, exception = ${exception}, ${sql.join(also, sql``)} ${mark}
      ${unleased}, ${next}
    where ${isHeld(lease)}`.execute(db)
  return numAffectedRows === 1n
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
export async function expireRows(db: Kysely<Tables>, table: LeasedTable): Promise<ExpiredRows> {
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
      processed_at = case when lost.is_given_up then lost.now end, ${unleased}
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
