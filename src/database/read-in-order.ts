import { sql, type Kysely } from 'kysely'
import type { Database } from './connect.ts'
import type { Tables } from './tables.ts'

/** For reads that end at some thousand rows, in the order of an index: see `followIndexes`. */
export function readInOrder<T>(
  database: Database,
  read: (db: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  return database.transaction(async ({ db }) => {
    await followIndexes(db)
    return read(db)
  })
}

/**
 * For the rest of a transaction. A backlog comes sooner than the statistics know of it. Until then a
 * plan that takes all that there is, and sorts it, looks cheaper than one that follows the index to
 * the limit: it must not be chosen. Before PostgreSQL 18 it is forbidden by its costs, and those alone
 * would have the statement compiled.
 */
export async function followIndexes(db: Kysely<Tables>): Promise<void> {
  await sql`select set_config('enable_bitmapscan', 'off', true),
    set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`.execute(db)
}
