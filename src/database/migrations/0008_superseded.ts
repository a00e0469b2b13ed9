import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/** Events of what had been overtaken before its event was dispatched. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`alter table billing.events add column superseded boolean not null default false`,
  ])
}
