import { sql, type Kysely } from 'kysely'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { hours, seconds, type Duration } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { silentLog, type Log } from '../kernel/log.ts'
import { runTransaction, type Database } from './connect.ts'
import { classifyFailure } from './failure.ts'
import { migrations, type Migration } from './migrations/index.ts'
import { usualPatience } from './patience.ts'
import type { Schema } from './schema.ts'
import { pinning } from './session-settings.ts'
import type { Tables } from './tables.ts'

/** The migrations by name, in order. Tests pass a list with one more, as the next version would have. */
type Migrations = Readonly<Record<string, Migration>>

interface MigrateOptions {
  /** Told what is waited for. */
  readonly log?: Log
  readonly all?: Migrations
  /** Tests have their own. */
  readonly pauseMs?: Duration
  readonly mostTries?: number
}

/** A change of all rows takes longer than any other statement may. */
const statementLimit = hours(1)
/** A statement that waits for an exclusive lock blocks all others behind it: never for long. */
const tableLockTimeout: Duration = 500
/** What is waited for is said at the first try, and again at each of these. */
const saidEvery = 10

/**
 * Brings the schema up to date, in one transaction; several processes at once take turns. Tries again
 * while others hold a table, or do the same, for a minute and a half at most.
 */
export async function migrate(
  database: Database,
  { log = silentLog, all = migrations, pauseMs = seconds(1), mostTries = 60 }: MigrateOptions = {},
): Promise<readonly string[]> {
  if ((await pendingMigrations(database, all)).length === 0) return []
  const { connection, schema } = database
  const pool = new pg.Pool({
    ...connection,
    max: 1,
    query_timeout: statementLimit,
    ...pinning(usualPatience.connection),
  })
  // The code that waits for an answer gets the same error; without handlers it would end the
  // process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        return await runTransaction({ pool, schema, isOver }, ({ db }) =>
          applyPending(db, schema, all),
        )
      } catch (error) {
        if (!(error instanceof TurnTaken) && classifyFailure(error) !== 'transient') throw error
        const holders = await findHolders(database)
        if (tries === mostTries) throw inUse(holders, error)
        if (tries % saidEvery === 1) log.warn({ holders }, 'a migration waits for others')
      }
      await pause(pauseMs)
    }
  } finally {
    await pool.end()
  }
}

/** After a failure, its connection serves no other try. */
const isOver = () => true

class TurnTaken extends Error {}

/** Any number that nobody else takes. */
const lockClass = 1_903_521_140

/** Behind the class: each schema has a lock of its own. */
const lockOf = ({ name }: Schema) => sql`hashtext(${name})`

async function applyPending(
  db: Kysely<Tables>,
  schema: Schema,
  all: Migrations,
): Promise<readonly string[]> {
  // In the transaction: a pooler may swallow what is asked for a connection.
  await sql`select set_config('lock_timeout', ${`${tableLockTimeout}`}, true),
    set_config('statement_timeout', ${`${statementLimit}`}, true)`.execute(db)
  const { rows } = await sql<{ taken: boolean }>`
    select pg_try_advisory_xact_lock(${lockClass}::int, ${lockOf(schema)}) as taken`.execute(db)
  if (rows[0]?.taken !== true) throw new TurnTaken('another process migrates')
  await createTable(db)
  const done = await appliedMigrations(db)
  const pending = Object.entries(all).filter(([name]) => !done.has(name))
  for (const [name, { up }] of pending) {
    await up(db)
    await sql`insert into billing.migrations (name) values (${name})`.execute(db)
  }
  return pending.map(([name]) => name)
}

async function createTable(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ schema: boolean; table: boolean }>`
    select to_regnamespace('billing') is not null as schema,
      to_regclass('billing.migrations') is not null as table`.execute(db)
  // Whoever has made the schema for us need not let us make others.
  if (rows[0]?.schema !== true) await sql`create schema billing`.execute(db)
  if (rows[0]?.table === true) return
  await sql`create table billing.migrations (
    name text primary key, applied_at timestamptz(3) not null default statement_timestamp())`.execute(
    db,
  )
}

/** A session that holds what a migration may need, for longer than a migration waits for it. */
interface Holder {
  readonly pid: number
  readonly user: string
  readonly application: string
  /** In seconds. */
  readonly since: number
}

async function findHolders({ db, schema }: Database): Promise<readonly Holder[]> {
  const { rows } = await sql<Holder>`
    select pid, coalesce(usename, '') as user, coalesce(application_name, '') as application,
      coalesce(round(extract(epoch from statement_timestamp() - xact_start)), 0)::int as since
    from pg_stat_activity where pid <> pg_backend_pid() and pid in (
      select pid from pg_locks
      where granted and database = (select oid from pg_database where datname = current_database())
        and (relation in (
            select oid from pg_class where relnamespace = to_regnamespace('billing'))
          or (locktype = 'advisory' and classid = ${lockClass}::bigint::oid
            and objid = ${lockOf(schema)}::oid)))
      and coalesce(xact_start, '-infinity')
        < statement_timestamp() - make_interval(secs => ${tableLockTimeout / 1000})
    order by xact_start limit 3`.execute(db)
  return rows
}

function inUse(holders: readonly Holder[], cause: unknown): QuittanceError {
  const said = holders.map(
    ({ pid, user, application, since }) =>
      `process ${pid} of the server (${user}, ${application || 'unnamed'}) for ${since} s`,
  )
  return new QuittanceError(
    'database_schema_in_use',
    `the schema is held by ${said.join(' and ') || 'short transactions, one after the other'}`,
    { cause },
  )
}

/** Names of the migrations that this version needs and the database lacks. A newer one is fine. */
export async function pendingMigrations(
  database: Database,
  all: Migrations = migrations,
): Promise<readonly string[]> {
  const done = await appliedMigrations(database.db)
  return Object.keys(all).filter((name) => !done.has(name))
}

export async function requireMigrated(database: Database): Promise<void> {
  const pending = await pendingMigrations(database)
  if (pending.length === 0) return
  throw new QuittanceError(
    'database_schema_outdated',
    `the database lacks ${pending.length} migration(s): ${pending.join(', ')}`,
  )
}

async function appliedMigrations(db: Kysely<Tables>): Promise<ReadonlySet<string>> {
  const found = await sql<{ present: boolean }>`
    select to_regclass('billing.migrations') is not null as present`.execute(db)
  if (found.rows[0]?.present !== true) return new Set()
  const applied = await sql<{ name: string }>`select name from billing.migrations`.execute(db)
  return new Set(applied.rows.map((row) => row.name))
}
