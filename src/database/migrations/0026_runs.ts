import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * Replays of all that failed and matches a filter. The row of a run says how far it has come, so that
 * any process can go on with it; its items are what it put back into the queue and has not ended since.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`create table billing.runs (
      id uuid not null,
      operator text,
      gateway text,
      kind text check (kind in ('call', 'delivery', 'deferred_event')),
      listener text,
      exception text,
      since timestamptz(3),
      until timestamptz(3),
      state text not null check (state in ('running', 'stopping', 'stopped', 'finished')),
      estimate integer not null check (estimate >= 0),
      estimate_is_least boolean not null,
      done integer not null default 0,
      ended integer not null default 0,
      failed_again integer not null default 0,
      phase text not null check (phase in ('calls', 'deliveries')),
      cursor_at timestamptz(3),
      cursor_id uuid,
      item_cursor uuid,
      looked_at timestamptz not null default statement_timestamp(),
      lease_token uuid,
      lease_until timestamptz,
      created_at timestamptz(3) not null default statement_timestamp(),
      finished_at timestamptz(3),
      constraint runs_pkey primary key (id),
      constraint runs_counts check (failed_again between 0 and ended and ended <= done),
      constraint runs_lease check ((lease_token is null) = (lease_until is null)),
      constraint runs_finished
        check ((state in ('stopped', 'finished')) = (finished_at is not null))
    )`,
    sql`create index runs_created on billing.runs (created_at, id)`,
    sql`create index runs_open on billing.runs (looked_at)
      where state in ('running', 'stopping') or ended < done`,
    sql`create table billing.run_items (
      run_id uuid not null,
      id uuid not null,
      kind text not null check (kind in ('call', 'delivery')),
      constraint run_items_pkey primary key (run_id, id),
      constraint run_items_run_id_fkey foreign key (run_id)
        references billing.runs (id) on delete cascade
    )`,
  ])
}
