import { Kysely, PostgresDialect, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import pg from 'pg'
import { hours } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Database } from './connect.ts'
import { migrations } from './migrations/index.ts'
import type { Tables } from './tables.ts'

const historyTables = {
  migrationTableSchema: 'billing',
  migrationTableName: 'migrations',
  migrationLockTableName: 'migration_lock',
}

/** Brings the schema up to date, in one transaction; several processes at once take turns. */
export async function migrate(database: Database): Promise<readonly string[]> {
  // The migrator takes those of a newer version for corruption; beside one, there is nothing to do.
  if ((await pendingMigrations(database)).length === 0) return []
  const patient = openPatiently(database)
  try {
    const { error, results } = await migrator(patient).migrateToLatest()
    if (error !== undefined) throw error
    return (results ?? []).map((result) => result.migrationName)
  } finally {
    await patient.destroy()
  }
}

/** An index over millions of rows takes longer than any other statement may. */
const statementLimitMs = hours(1)

function openPatiently({ connection }: Database): Kysely<Tables> {
  const limits = { query_timeout: statementLimitMs, statement_timeout: statementLimitMs }
  const pool = new pg.Pool({ ...connection, ...limits, max: 2 })
  // Whoever waits for its answer gets the same error.
  pool.on('error', () => {})
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
}

/** Names of the migrations that this version needs and the database lacks. A newer one is fine. */
export async function pendingMigrations(database: Database): Promise<readonly string[]> {
  const done = await appliedMigrations(database.db)
  return Object.keys(migrations).filter((name) => !done.has(name))
}

export async function requireMigrated(database: Database): Promise<void> {
  const pending = await pendingMigrations(database)
  if (pending.length === 0) return
  throw new QuittanceError(
    'database_schema_outdated',
    `the database lacks ${pending.length} migration(s): ${pending.join(', ')}`,
  )
}

function migrator(db: Kysely<Tables>): Migrator {
  return new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve({ ...migrations }) },
    ...historyTables,
  })
}

async function appliedMigrations(db: Kysely<Tables>): Promise<ReadonlySet<string>> {
  const found = await sql<{ present: boolean }>`
    select to_regclass('billing.migrations') is not null as present`.execute(db)
  if (found.rows[0]?.present !== true) return new Set()
  const applied = await sql<{ name: string }>`select name from billing.migrations`.execute(db)
  return new Set(applied.rows.map((row) => row.name))
}
