import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/** The subscription that a payment began, and the second name under which a call may wait. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`alter table billing.payments add column subscription_reference text`,
    // Not unique: a payment that is paid must never be refused for its subscription.
    sql`create index payments_subscription_reference on billing.payments
      (gateway, subscription_reference) where subscription_reference is not null`,
    sql`alter table billing.webhook_calls add column awaiting_also text`,
    sql`create index webhook_calls_awaiting_also on billing.webhook_calls (awaiting_also)
      where awaiting_also is not null`,
  ])
}
