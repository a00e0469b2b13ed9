import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/** Lets the one call that wrote a payment or a refund recognise its row. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [sql`alter table billing.payments add column written_by uuid`])
}
