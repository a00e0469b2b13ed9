import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * The subscription that a payment started, and the second name under which a call may wait. Both
 * have an index, see `late-indexes.ts`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`alter table billing.payments add column subscription_reference text`,
    sql`alter table billing.webhook_calls add column awaiting_also text`,
  ])
}
