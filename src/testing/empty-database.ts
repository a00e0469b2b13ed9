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

/** Which database is emptied, as the options have it. */
export interface EmptiedDatabase {
  readonly url?: string | undefined
  readonly memory: boolean
  readonly dataDir: string
}

/** Not in the middle of a word: `latest` and `contest` name real ones. */
const ofTests = /(?<![a-z])test/i

/** Empties a database between two tests; one that is kept, only if it is named as one of tests. */
export async function emptyDatabase(
  db: Kysely<Tables>,
  { url, memory, dataDir }: EmptiedDatabase,
): Promise<void> {
  const { rows } = await sql<{ name: string; tables: string }>`
    select current_database() as name, string_agg(format('billing.%I', relname), ', ') as tables
    from pg_class where relnamespace = 'billing'::regnamespace and relkind = 'r'
      and relname <> all(${[...kept]})`.execute(db)
  const [found] = rows
  if (found === undefined) return
  const isKept = url !== undefined || !memory
  const name = url === undefined ? dataDir : found.name
  if (isKept && !ofTests.test(name)) {
    throw new Error(`reset() empties no database without a word that begins with "test": ${name}`)
  }
  await sql`truncate ${sql.raw(found.tables)}`.execute(db)
  await sql`delete from billing.endpoints where source = 'api'`.execute(db)
}
