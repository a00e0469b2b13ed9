import { sql, type Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'

/** What a process that works has written at its start, and does not write again. */
const kept: readonly string[] = [
  'commit_guards',
  'endpoints',
  'feeds',
  'installation',
  'listeners',
  'migrations',
  'schedules',
  'workers',
]

/**
 * Empties a database between two tests; on a server only if its name contains `test`, for it could be
 * a real one.
 */
export async function emptyDatabase(db: Kysely<Tables>, isEmbedded: boolean): Promise<void> {
  const { rows } = await sql<{ name: string; tables: string }>`
    select current_database() as name, string_agg(format('billing.%I', relname), ', ') as tables
    from pg_class where relnamespace = 'billing'::regnamespace and relkind = 'r'
      and relname <> all(${[...kept]})`.execute(db)
  const [found] = rows
  if (found === undefined) return
  if (!isEmbedded && !/test/i.test(found.name)) {
    throw new Error(`reset() empties no database whose name is without "test": ${found.name}`)
  }
  await sql`truncate ${sql.raw(found.tables)}`.execute(db)
  await sql`delete from billing.endpoints where source = 'api'`.execute(db)
}
