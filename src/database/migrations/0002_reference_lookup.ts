import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/** The reference before the account: callbacks name a charge by its reference, of whatever account. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`drop index billing.payments_checkout_reference`,
    sql`drop index billing.payments_provider_reference`,
    sql`create unique index payments_checkout_reference on billing.payments
      (gateway, type, checkout_reference, coalesce(merchant_account, ''))
      where checkout_reference is not null`,
    sql`create unique index payments_provider_reference on billing.payments
      (gateway, type, provider_reference, coalesce(merchant_account, ''))
      where provider_reference is not null`,
  ])
}
