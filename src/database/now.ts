import { sql, type Kysely } from 'kysely'
import type { Tables } from './tables.ts'

/** The database's time: what several processes have to agree on uses no other clock. */
export async function databaseNow(db: Kysely<Tables>): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select statement_timestamp() as now`.execute(db)
  const now = rows[0]?.now
  if (now === undefined) throw new Error('the database does not know the time')
  return now
}
