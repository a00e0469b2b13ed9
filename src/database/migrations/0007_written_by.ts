import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/** By which the one call that wrote a payment or a refund knows its row again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [sql`alter table billing.payments add column written_by uuid`])
}
