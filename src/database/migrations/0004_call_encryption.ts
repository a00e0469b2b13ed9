import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/** Whether `body` is encrypted: its bytes do not show that. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`alter table billing.webhook_calls
      add column body_encrypted boolean not null default false,
      add check (not body_encrypted or body is not null)`,
  ])
}
