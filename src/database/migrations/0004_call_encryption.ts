import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/** Whether `body` is encrypted: what it was is known by the key alone, not by its bytes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`alter table billing.webhook_calls
      add column body_encrypted boolean not null default false,
      add check (not body_encrypted or body is not null)`,
  ])
}
