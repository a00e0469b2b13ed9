import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * What a person must look at, apart from the call that said so, which is deleted after a while. The
 * key is a hash of what was found, so that the same news again finds its row; texts of any length
 * make it. No foreign keys: a review outlives its calls. `review_calls`: which calls said it; as
 * long as one of their reviews is open, they are marked.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`create table billing.reviews (
      id uuid primary key,
      key bytea not null unique,
      gateway text not null,
      reason text not null,
      detail text,
      payment_id uuid,
      period_id uuid,
      subscription_id uuid,
      webhook_call_id uuid,
      stated_reference text,
      stated_amount bigint,
      stated_currency text,
      expected_amount bigint,
      expected_currency text,
      times integer not null default 1 check (times > 0),
      state text not null default 'open' check (state in ('open', 'handled')),
      operator text,
      note text,
      version integer not null default 1,
      created_at timestamptz(3) not null default statement_timestamp(),
      last_at timestamptz(3) not null default statement_timestamp(),
      handled_at timestamptz(3),
      check ((state = 'handled') = (handled_at is not null))
    )`,
    sql`create index reviews_open on billing.reviews (id) where state = 'open'`,
    sql`create index reviews_payment on billing.reviews (payment_id, id)
      where payment_id is not null`,
    sql`create table billing.review_calls (
      call_id uuid not null,
      review_id uuid not null,
      primary key (call_id, review_id)
    )`,
    sql`create index review_calls_review on billing.review_calls (review_id)`,
  ])
}
