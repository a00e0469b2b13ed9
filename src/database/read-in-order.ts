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

/** Reads as `readInOrder` does. */
export type ReadInOrder = <T>(read: (db: Kysely<Tables>) => Promise<T>) => Promise<T>

/**
 * The same for many reads in one transaction: where the server is far away, beginning and ending one
 * for each takes longer than the reads. A read that fails fails alone: the reads after it have a
 * transaction of their own. The embedded database serves nobody else during a transaction, and is
 * near: there each read has its own.
 */
export async function readManyInOrder<T>(
  database: Database,
  work: (inOrder: ReadInOrder) => Promise<T>,
): Promise<T> {
  if (database.kind === 'embedded') return work((read) => readInOrder(database, read))
  let open: Promise<OpenTransaction> | undefined
  const inOrder: ReadInOrder = async (read) => {
    const own = (open ??= begin(database))
    try {
      return await read((await own).db)
    } catch (error) {
      if (open === own) open = undefined
      await endOf(own, error)
      throw error
    }
  }
  try {
    return await work(inOrder)
  } finally {
    if (open !== undefined) await endOf(open)
  }
}

/** A transaction that could not begin has nothing to end. */
function endOf(opening: Promise<OpenTransaction>, error?: unknown): Promise<void> {
  return opening.then(
    (open) => open.end(error),
    () => {},
  )
}

interface OpenTransaction {
  readonly db: Kysely<Tables>
  /** Never rejects: what was read holds, whatever becomes of the transaction. */
  end(error?: unknown): Promise<void>
}

async function begin(database: Database): Promise<OpenTransaction> {
  const begun = Promise.withResolvers<Kysely<Tables>>()
  const ended = Promise.withResolvers<void>()
  const over = readInOrder(database, (db) => {
    begun.resolve(db)
    return ended.promise
  }).catch(begun.reject)
  const db = await begun.promise
  return {
    db,
    end(error) {
      if (error === undefined) ended.resolve()
      else ended.reject(error)
      return over
    },
  }
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
