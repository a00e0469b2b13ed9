import { sql, type Kysely, type RawBuilder } from 'kysely'
import { interval } from '../database/interval.ts'
import { named } from '../database/named-statements.ts'
import type { Tables } from '../database/tables.ts'
import type { Lease, LeasedTable, TimedTable } from './leased-table.ts'

/** How many rows to take, leased under which token. */
export interface Take {
  readonly limit: number
  readonly token: string
}

/** Nobody holds the row. */
export const isFree = sql`(lease_until is null or lease_until < statement_timestamp())`

/** Takes due rows in their order; those that others hold are skipped. */
export function takeDue<Row extends Lease, Asked>(
  db: Kysely<Tables>,
  table: TimedTable<Row, Asked>,
  { asked, ...look }: Take & { readonly asked: Asked },
): Promise<readonly Row[]> {
  const due = sql`${isFree} and ${table.due(asked)}`
  const { columns, taking } = table
  return take(db, table, { ...look, due, columns, taking, prepared: table.prepared?.(asked) })
}

/** A look into a table. */
interface Look<Row> extends Take {
  /** With its `order by`; the table is called `due`. */
  readonly due: RawBuilder<unknown>
  readonly columns: RawBuilder<Omit<Row, keyof Lease>> | undefined
  readonly taking: RawBuilder<unknown> | undefined
  readonly prepared?: string | undefined
}

/**
 * The one statement that takes rows. The database's clock rules. Materialized: a plan may look again
 * for each row of the table, and then takes more than the limit.
 */
export async function take<Row extends Lease>(
  db: Kysely<Tables>,
  table: LeasedTable,
  { limit, token, due, columns, taking, prepared }: Look<Row>,
): Promise<readonly Row[]> {
  const { name } = table
  const key = keyOf(table)
  const look = sql<Row>`
    with taken as materialized (
      select ${key} from ${sql.table(name)} as due
      where ${due} limit ${limit} for no key update skip locked
    )
    update ${sql.table(name)} as row
    set lease_token = ${token}::uuid, lease_until = ${untilOf(table)} ${also(taking)}
    from taken where row.${key} = taken.${key}
    returning row.${key} as id, row.lease_token as token ${also(columns)}`
  const statement = prepared === undefined ? look : sql<Row>`${named(`take-${prepared}`)}${look}`
  return (await statement.execute(db)).rows
}

/** Extends what is still being worked on. A locked row is just being ended: do not wait for it. */
export async function extendLeases(
  db: Kysely<Tables>,
  table: LeasedTable,
  leases: readonly Lease[],
): Promise<void> {
  const key = keyOf(table)
  await sql`
    update ${sql.table(table.name)} as row set lease_until = ${untilOf(table)}
    from (
      select ${key} from ${sql.table(table.name)}
      where ${key} = any(${idsOf(table, leases)}) and lease_token = any(${tokensOf(leases)})
      for no key update skip locked
    ) as held
    where row.${key} = held.${key}`.execute(db)
}

/** What is written of a row that this process goes on with. */
interface Progress<Read> {
  readonly lease: Lease
  /** Of the row, which is called `row`. */
  readonly set?: RawBuilder<unknown>
  /** What must be true of it besides the lease. */
  readonly isStill?: RawBuilder<unknown>
  readonly returning: RawBuilder<Read>
}

/**
 * Extends one lease, and writes what is known by now. The row is waited for, and locked. Undefined:
 * the lease is lost.
 */
export async function keepLease<Read>(
  db: Kysely<Tables>,
  table: LeasedTable,
  { lease, set, isStill = sql`true`, returning }: Progress<Read>,
): Promise<Read | undefined> {
  const { rows } = await sql<Read>`
    update ${sql.table(table.name)} as row set lease_until = ${untilOf(table)} ${also(set)}
    where row.${keyOf(table)} = any(${idsOf(table, [lease])})
      and row.lease_token = ${lease.token}::uuid and ${isStill}
    returning ${returning}`.execute(db)
  return rows[0]
}

/** A column that gets a value for each row. */
export interface ColumnOfRows {
  readonly type: 'text' | 'json' | 'jsonb' | 'boolean' | 'uuid'
  readonly values: readonly unknown[]
  /** The values are added to the list that is there; if there is none, there will be none. */
  readonly isAdded?: boolean
}

/** What becomes of rows whose leases end. */
interface Ending<Read> {
  readonly leases: readonly Lease[]
  /** Of each row, which is called `row`. */
  readonly set?: RawBuilder<unknown>
  /** What must be true of it besides the lease; otherwise it is still held. */
  readonly isStill?: RawBuilder<unknown>
  readonly columns?: Readonly<Record<string, ColumnOfRows>>
  readonly returning?: RawBuilder<Read>
  readonly prepared?: string
}

type Ended<Read> = Read & Pick<Lease, 'id'>

/** The one statement that ends leases. Returns the rows; those whose lease is lost are not among them. */
export async function endLeases<Read = object>(
  db: Kysely<Tables>,
  table: LeasedTable,
  { leases, set, isStill = sql`true`, columns = {}, returning, prepared }: Ending<Read>,
): Promise<readonly Ended<Read>[]> {
  if (leases.length === 0) return []
  const key = keyOf(table)
  const listed = Object.entries(columns)
  const written = listed.map(([column, { isAdded }]) => {
    const present = isAdded === true ? sql`row.${sql.ref(column)} || ` : sql``
    return sql`, ${sql.ref(column)} = ${present}held.${sql.ref(column)}`
  })
  const lists = listed.map(([, { type, values }]) => sql`, ${[...values]}::${sql.raw(type)}[]`)
  const names = listed.map(([column]) => sql`, ${sql.ref(column)}`)
  const ending = sql<Ended<Read>>`
    update ${sql.table(table.name)} as row
    set lease_token = null, lease_until = null ${sql.join(written, sql``)} ${also(set)}
    from unnest(${idsOf(table, leases)}, ${tokensOf(leases)} ${sql.join(lists, sql``)})
      as held (id, token ${sql.join(names, sql``)})
    where row.${key} = held.id and row.lease_token = held.token and ${isStill}
    returning row.${key} as id ${also(returning)}`
  const statement =
    prepared === undefined ? ending : sql<Ended<Read>>`${named(`end-${prepared}`)}${ending}`
  return (await statement.execute(db)).rows
}

function also(part: RawBuilder<unknown> | undefined): RawBuilder<unknown> {
  return part === undefined ? sql`` : sql`, ${part}`
}

function keyOf({ key }: LeasedTable): RawBuilder<unknown> {
  return sql.ref(key ?? 'id')
}

function idsOf({ key }: LeasedTable, leases: readonly Lease[]): RawBuilder<unknown> {
  const ids = leases.map(({ id }) => id)
  return key === undefined ? sql`${ids}::uuid[]` : sql`${ids}::text[]`
}

function tokensOf(leases: readonly Lease[]): RawBuilder<unknown> {
  return sql`${leases.map(({ token }) => token)}::uuid[]`
}

function untilOf({ length }: LeasedTable): RawBuilder<unknown> {
  return sql`statement_timestamp() + ${interval(length)}`
}
