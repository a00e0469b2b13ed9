import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/** Each running worker has a row, by which it is counted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`create table billing.workers (
      id uuid primary key,
      seen_at timestamptz not null
    )`,
  ])
}
