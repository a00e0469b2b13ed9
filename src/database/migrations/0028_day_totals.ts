import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * What was paid and refunded in each day in UTC: made of the payments' history, which stays what
 * counts. `totaled_days` says as of when a day was computed, whether or not anything moved in it.
 * Money has no limit here: it is a sum. Empty account: the payments name none.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`create table billing.totaled_days (
      day date not null constraint totaled_days_pkey primary key,
      computed_at timestamptz(3) not null
    )`,
    sql`create table billing.day_totals (
      day date not null,
      gateway text not null,
      merchant_account text not null,
      mode text not null check (mode in ('live', 'test', 'unknown')),
      currency text not null,
      paid_count bigint not null,
      paid_amount numeric(40, 0) not null,
      refunded_count bigint not null,
      refunded_amount numeric(40, 0) not null,
      returned_count bigint not null,
      returned_amount numeric(40, 0) not null,
      disputes_opened bigint not null,
      disputes_won bigint not null,
      disputes_lost bigint not null,
      constraint day_totals_pkey primary key (day, gateway, merchant_account, mode, currency)
    )`,
  ])
}
