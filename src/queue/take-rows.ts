import { sql, type Kysely, type RawBuilder } from 'kysely'
import { interval } from '../database/interval.ts'
import { missingListeners } from '../database/missing-listeners.ts'
import type { Tables } from '../database/tables.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import type { Lease, LeasedRow, LeasedTable } from './leased-table.ts'

export interface TakeOptions {
  readonly limit: number
  readonly token: string
  /** Names of the queues to take from; all if left out. */
  readonly queues?: readonly string[] | undefined
  /** Calls of these gateways; of all if left out. */
  readonly gateways?: readonly string[] | undefined
  /** Take rows that already cost a worker its life; these go one at a time. */
  readonly alone: boolean
  /** `name/type` of the listeners that this process has: without all known ones it takes nothing. */
  readonly listeners: readonly string[]
}

export const leaseLength: Duration = seconds(30)

/**
 * Takes due rows, oldest first; rows that others hold are skipped. The database's clock rules.
 * Materialized: a plan may look anew for each row of the table, and then takes more than the limit.
 */
export async function takeRows<Row extends LeasedRow>(
  db: Kysely<Tables>,
  table: LeasedTable<Row>,
  options: TakeOptions,
): Promise<readonly Row[]> {
  const { queues, gateways } = options
  const inQueues = queues === undefined ? sql`` : sql`and queue = any(${[...queues]}::text[])`
  const losses = options.alone ? sql`leases_lost > 0` : sql`leases_lost = 0`
  const { rows } = await sql<Row>`
    with taken as materialized (
      select id from ${sql.table(table.name)} as due
      where state = 'pending' and next_attempt_at <= now() and ${losses} ${ofKind(table)} ${inQueues}
        ${ofThese(gateways)} ${isNextOf(table)} and not exists (${missingListeners(options.listeners)})
      order by next_attempt_at, id limit ${options.limit} for update skip locked
    )
    update ${sql.table(table.name)} as row
    set state = 'processing', lease_token = ${options.token}::uuid,
      lease_until = statement_timestamp() + ${interval(leaseLength)}
    from taken where row.id = taken.id
    returning row.id, row.lease_token as token, ${table.columns},
      row.attempts, row.leases_lost, row.times_returned`.execute(db)
  return rows
}

/**
 * Whether due rows wait that already cost a worker its life. Those that this process must not take
 * must not make it wait.
 */
export async function anyAlone(
  db: Kysely<Tables>,
  table: LeasedTable,
  gateways?: TakeOptions['gateways'],
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from ${sql.table(table.name)} as due
    where state = 'pending' and next_attempt_at <= now() and leases_lost > 0
      ${ofKind(table)} ${ofThese(gateways)} ${isNextOf(table)} limit 1`.execute(db)
  return rows.length > 0
}

function ofKind({ kind }: Pick<LeasedTable, 'kind'>): RawBuilder<unknown> {
  return kind === undefined ? sql`` : sql`and ${kind}`
}

function isNextOf({ isNext }: Pick<LeasedTable, 'isNext'>): RawBuilder<unknown> {
  return isNext === undefined ? sql`` : sql`and ${isNext}`
}

function ofThese(gateways: TakeOptions['gateways']): RawBuilder<unknown> {
  return gateways === undefined ? sql`` : sql`and gateway = any(${[...gateways]}::text[])`
}

/** Extends what is still being worked on. A locked row is just being ended: do not wait for it. */
export async function extendLeases(
  db: Kysely<Tables>,
  { name }: LeasedTable,
  leases: readonly Lease[],
): Promise<void> {
  await sql`
    update ${sql.table(name)} as row
    set lease_until = statement_timestamp() + ${interval(leaseLength)}
    from (
      select id from ${sql.table(name)}
      where id = any(${leases.map((lease) => lease.id)}::uuid[])
        and lease_token = any(${leases.map((lease) => lease.token)}::uuid[])
      for no key update skip locked
    ) as held
    where row.id = held.id`.execute(db)
}
