import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import { retryPassing } from '../../src/queue/retry-passing.ts'

const schema = 'dump'

type Tables = Parameters<Parameters<Database['transaction']>[0]>[0]['db']

async function tablesOf(db: Tables): Promise<readonly { name: string; columns: string }[]> {
  const { rows } = await sql<{ name: string; columns: string }>`
    select table_name as name, string_agg(quote_ident(column_name), ', ') as columns
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = 'billing' and table_type = 'BASE TABLE' and is_generated = 'NEVER'
    group by table_name`.execute(db)
  return rows
}

/** Keeps all of the database as it is now, as a dump does. */
export async function dumpTables(database: Database): Promise<void> {
  await database.transaction(async ({ db }) => {
    await sql`drop schema if exists ${sql.id(schema)} cascade`.execute(db)
    await sql`create schema ${sql.id(schema)}`.execute(db)
    for (const { name } of await tablesOf(db)) {
      await sql`create table ${sql.id(schema, name)} as table ${sql.id('billing', name)}`.execute(
        db,
      )
    }
  })
}

/**
 * Brings the database back to the dump: all that has been written since is gone. Workers that read
 * meanwhile may get in its way.
 */
export async function restoreTables(database: Database): Promise<void> {
  await retryPassing(() => restore(database), Math.random)
}

async function restore(database: Database): Promise<void> {
  await database.transaction(async ({ db }) => {
    await sql`set local session_replication_role = replica`.execute(db)
    const tables = await tablesOf(db)
    const names = tables.map(({ name }) => sql.id('billing', name))
    await sql`truncate ${sql.join(names)}`.execute(db)
    for (const { name, columns } of tables) {
      const listed = sql.raw(columns)
      await sql`insert into ${sql.id('billing', name)} (${listed})
        select ${listed} from ${sql.id(schema, name)}`.execute(db)
    }
  })
}
