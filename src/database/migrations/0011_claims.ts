import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * What a call claimed stands on the call, and what is listed by time is listed by id, which begins
 * with the time: four indexes are no longer needed. Rows of before do not know their claims
 * (null): see `dedup-claims.ts`. The tables come in the order in which processing locks them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`drop index billing.payments_paid`,
    sql`drop index billing.events_created, billing.events_call`,
    sql`drop index billing.webhook_calls_received`,
    sql`alter table billing.webhook_calls add column dedup_claims jsonb`,
    // In a statement of its own: rows of before keep null.
    sql`alter table billing.webhook_calls alter column dedup_claims set default '[]'`,
  ])
}
