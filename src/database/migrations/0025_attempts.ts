import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * What a person asks when something went wrong: why each attempt failed, not only the last one, and
 * what providers were asked about a payment. Equal answers in a row are one row, with how often.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`create table billing.failed_attempts (
      id uuid primary key,
      call_id uuid,
      delivery_id uuid,
      attempt integer not null check (attempt > 0),
      listener text,
      exception text not null,
      created_at timestamptz(3) not null default statement_timestamp(),
      constraint failed_attempts_of_one check ((call_id is null) <> (delivery_id is null))
    )`,
    sql`create index failed_attempts_call on billing.failed_attempts (call_id, id)
      where call_id is not null`,
    sql`create index failed_attempts_delivery on billing.failed_attempts (delivery_id, id)
      where delivery_id is not null`,
    sql`create table billing.payment_activity (
      id uuid primary key,
      payment_id uuid not null,
      operation text not null,
      result text not null,
      detail text,
      times integer not null default 1 check (times > 0),
      duration_ms integer not null check (duration_ms >= 0),
      created_at timestamptz(3) not null default statement_timestamp(),
      updated_at timestamptz(3) not null default statement_timestamp()
    )`,
    sql`create index payment_activity_payment on billing.payment_activity (payment_id, id)`,
  ])
}
