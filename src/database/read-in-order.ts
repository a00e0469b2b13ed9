import { sql, type Kysely } from 'kysely'
import type { Database } from './connect.ts'
import type { Tables } from './tables.ts'

/**
 * For reads that end at some thousand rows, in the order of an index. A backlog comes sooner than the
 * statistics know of it. Until then a plan that takes all that there is, and sorts it, looks cheaper
 * than one that follows the index to the limit: it must not be chosen.
 */
export function readInOrder<T>(
  database: Database,
  read: (db: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  return database.transaction(async ({ db }) => {
    await sql`select set_config('enable_bitmapscan', 'off', true),
      set_config('enable_sort', 'off', true)`.execute(db)
    return read(db)
  })
}
