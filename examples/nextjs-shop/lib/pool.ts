// The shop's own connections, to the database of the payments: so a listener can write to its table.
import { resolve } from 'node:path'
import pg from 'pg'

/** Of the embedded database, where no PostgreSQL is named. */
const dataDir = process.env.BILLING_DATA_DIR || '.quittance'

/** Next.js loads this file more than once: the global keeps one pool. */
const kept = globalThis as typeof globalThis & { pool?: pg.Pool }

function open(): pg.Pool {
  const { DATABASE_URL } = process.env
  // The embedded database listens on a socket in its folder, which is no part of the build.
  const host = resolve(/* turbopackIgnore: true */ dataDir)
  const embedded = { host, user: 'postgres', database: 'postgres' }
  const pool = new pg.Pool(DATABASE_URL ? { connectionString: DATABASE_URL } : embedded)
  // A connection that breaks while nobody uses it is replaced.
  return pool.on('error', (error) => console.error(error.message))
}

export const pool = (kept.pool ??= open())
