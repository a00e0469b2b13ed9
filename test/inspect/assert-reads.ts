import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'

/** By the name of a table; `any`: of each that is not named. */
export type MostRows = Readonly<Record<string, number>>

interface Bounds {
  /** Tables that are never read from end to end. */
  readonly big: readonly string[]
  readonly most: MostRows
}

/** That it scans no big table, and reads no more rows than this of any. */
export async function assertReadsOf(
  database: Database,
  { big, most }: Bounds,
  work: () => Promise<unknown>,
): Promise<void> {
  const before = await readSoFar(database)
  await work()
  const now = await readSoFar(database)
  for (const table of big) {
    const scans = (now.get(table)?.scans ?? 0) - (before.get(table)?.scans ?? 0)
    assert.equal(scans, 0, `${table} is scanned`)
    const rows = (now.get(table)?.rows ?? 0) - (before.get(table)?.rows ?? 0)
    const bound = most[table] ?? most['any'] ?? 0
    assert.ok(rows <= bound, `${rows} rows of ${table} are read, at most ${bound} are expected`)
  }
}

type Reads = ReadonlyMap<string, { readonly rows: number; readonly scans: number }>

/** Each connection says for itself what it read, after its statements. */
export async function sayReads({ pool }: Database): Promise<void> {
  const clients = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()))
  for (const client of clients) {
    await client.query('select pg_stat_force_next_flush()')
    client.release()
  }
}

async function readSoFar(database: Database): Promise<Reads> {
  const { db } = database
  await sayReads(database)
  const { rows } = await sql<{ name: string; rows: number; scans: number }>`
    select relname as name, seq_scan::int as scans, (seq_tup_read + coalesce((
      select sum(idx_tup_read) from pg_stat_user_indexes as one where one.relid = whole.relid), 0)
      )::int as rows
    from pg_stat_user_tables as whole where schemaname = 'billing'`.execute(db)
  return new Map(rows.map(({ name, ...read }) => [name, read]))
}
