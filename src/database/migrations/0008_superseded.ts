import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/** Events that were overtaken before they were dispatched. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`alter table billing.events add column superseded boolean not null default false`,
  ])
}
