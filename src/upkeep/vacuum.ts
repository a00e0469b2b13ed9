import pg from 'pg'
import type { Database } from '../database/connect.ts'
import { minutes } from '../kernel/duration.ts'

/** A server does this on its own; the embedded database has no autovacuum. */
export interface Vacuum {
  /** For tables of which many rows are deleted at once. */
  afterDeleting(table: string, rows: number): Promise<void>
  /** Also where nothing was deleted: rows were changed, and new ones are to be planned for. */
  all(): Promise<void>
}

/** The embedded database does nothing else meanwhile: 50,000 deleted calls take it 0.3 s. */
const mostDeleted = 50_000
/** A million calls of which none was ever vacuumed take 10 s: longer than other statements may. */
const limitMs = minutes(10)

const nothing = () => Promise.resolve()

type Connectable = Pick<Database, 'kind' | 'connection' | 'schema'>

/** The signal ends it between two tables. */
export function createVacuum(database: Connectable, signal: AbortSignal | undefined): Vacuum {
  if (database.kind !== 'embedded') return { afterDeleting: nothing, all: nothing }
  const deleted = new Map<string, number>()
  return {
    async afterDeleting(table, rows) {
      const all = (deleted.get(table) ?? 0) + rows
      deleted.set(table, all < mostDeleted ? all : 0)
      if (all >= mostDeleted) await connected(database, (send) => vacuum(send, table))
    },
    all: () =>
      connected(database, async (send) => {
        // One by one: between two of them others have their turn.
        for (const table of await listTables(send)) {
          signal?.throwIfAborted()
          await vacuum(send, table)
        }
        // Each analysis writes its findings anew there.
        await send('vacuum pg_catalog.pg_statistic')
      }),
  }
}

/** Sends a statement of the code on a connection of its own. */
type Send = (statement: string) => Promise<pg.QueryResult<{ readonly name: string }>>

async function connected(
  database: Connectable,
  work: (send: Send) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({
    ...database.connection,
    // It may wait for the vacuum of another.
    connectionTimeoutMillis: limitMs,
    query_timeout: limitMs,
    statement_timeout: limitMs,
  })
  // Whoever waits for an answer gets the same error; without a handler it would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    await work((statement) => client.query(database.schema.textOf(statement)))
  } finally {
    await client.end()
  }
}

async function listTables(send: Send): Promise<readonly string[]> {
  const { rows } = await send(
    `select relname as name from pg_class
     where relnamespace = 'billing'::regnamespace and relkind = 'r' order by relname`,
  )
  return rows.map(({ name }) => name)
}

async function vacuum(send: Send, table: string): Promise<void> {
  await send(`vacuum (analyze) billing.${pg.escapeIdentifier(table)}`)
}
