import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/** Why a payment was declined, in the provider's code. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [sql`alter table billing.payments add column decline_code text`])
}
