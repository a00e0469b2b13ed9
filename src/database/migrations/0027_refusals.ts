import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * What a few callbacks looked like that were refused: nothing of their bodies, queries and the values
 * of their headers. Five of each gateway and reason, overwritten in turn.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`create table billing.refusals (
      gateway text not null,
      reason text not null,
      slot smallint not null check (slot between 0 and 4),
      at timestamptz(3) not null default statement_timestamp(),
      name text,
      network text,
      body_bytes integer,
      content_type text,
      header_names text[] not null,
      has_signature boolean,
      clock_skew_seconds integer,
      constraint refusals_pkey primary key (gateway, reason, slot)
    )`,
    sql`create index refusals_at on billing.refusals (at)`,
  ])
}
