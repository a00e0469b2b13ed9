import { Kysely, PostgresDialect, sql } from 'kysely'
import { Migrator, type Migration } from 'kysely/migration'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { hours, seconds, type Duration } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Database } from './connect.ts'
import { classifyFailure } from './failure.ts'
import { migrations } from './migrations/index.ts'
import type { Tables } from './tables.ts'

/** The migrations by name. Tests pass a list with one more, as the next version would have. */
type Migrations = Readonly<Record<string, Migration>>

/** Brings the schema up to date, in one transaction; several processes at once take turns. */
export async function migrate(
  database: Database,
  all: Migrations = migrations,
): Promise<readonly string[]> {
  // The migrator takes the migrations of a newer version for corruption; then there is nothing to
  // do.
  if ((await pendingMigrations(database, all)).length === 0) return []
  const { connection } = database
  const pool = new pg.Pool({ ...connection, ...limits, max: 2 })
  // The code that waits for an answer gets the same error; without handlers it would end the
  // process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  try {
    return await migrateToLatest(db, all)
  } finally {
    await db.destroy()
  }
}

/** A change of all rows takes longer than any other statement may. */
const statementLimit = hours(1)
/** A statement that waits for an exclusive lock blocks all others behind it: never for long. */
const tableLockTimeout: Duration = 500
const limits = {
  query_timeout: statementLimit,
  statement_timeout: statementLimit,
  lock_timeout: tableLockTimeout,
}
const mostTries = 60
const pauseMs = seconds(1)

/** Retries while others hold a table, or are doing the same. */
async function migrateToLatest(db: Kysely<Tables>, all: Migrations): Promise<readonly string[]> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve({ ...all }) },
    migrationTableSchema: 'billing',
    migrationTableName: 'migrations',
    migrationLockTableName: 'migration_lock',
  })
  for (let tries = 1; ; tries += 1) {
    const { error, results } = await migrator.migrateToLatest()
    if (error === undefined) return (results ?? []).map((result) => result.migrationName)
    if (tries === mostTries || classifyFailure(error) !== 'transient') throw error
    await pause(pauseMs)
  }
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
