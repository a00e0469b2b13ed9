// The shop's own table, in the database of the payments: so a listener can write to it.
import { resolve } from 'node:path'
import pg from 'pg'
import { dataDir } from './quittance.config.ts'

const { DATABASE_URL } = process.env

/** The embedded database listens on a socket in its folder. */
const embedded = { host: resolve(dataDir), user: 'postgres', database: 'postgres' }

export const pool = new pg.Pool(DATABASE_URL ? { connectionString: DATABASE_URL } : embedded)
// A connection that breaks while nobody uses it is replaced.
pool.on('error', (error) => console.error(error.message))

/** So that the example needs no set-up; in your app a migration does it. */
export async function createTable(): Promise<void> {
  await pool.query(
    `create table if not exists readers (
       id uuid primary key,
       access boolean not null default false
     )`,
  )
}

export async function addReader(id: string): Promise<void> {
  await pool.query('insert into readers (id) values ($1) on conflict do nothing', [id])
}

/** What access in a row of your own is for: your own queries. */
export async function countReaders(): Promise<number> {
  const { rows } = await pool.query<{ readers: number }>(
    'select count(*)::int as readers from readers where access',
  )
  return rows[0]?.readers ?? 0
}
