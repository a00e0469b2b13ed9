import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * Usage and quotas. Some hundred times a second the row of a busy counter is written anew: half of
 * each page is kept free, and no index holds what such a write changes, so that it stays in its page
 * and the room of the row before is used again at once (a HOT update).
 *
 * Keys are pruned by their time. Those of a flush have the same one, so the index holds it once for
 * all of them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`create table billing.usage_counters (
      subscription_id uuid not null,
      quota text not null check (quota ~ '^[a-z0-9_.-]{1,64}$'),
      units_limit bigint check (units_limit >= 0),
      used bigint not null default 0 check (used >= 0),
      every_unit text check (every_unit in ('day', 'week', 'month', 'year')),
      every_count integer check (every_count between 1 and 366),
      anchor_at timestamptz(3) not null,
      time_zone text not null,
      window_starts_at timestamptz(3),
      window_ends_at timestamptz(3),
      percents integer[] not null,
      reached integer not null default 0,
      event_number bigint not null,
      look_at timestamptz(3),
      primary key (subscription_id, quota),
      check ((every_unit is null) = (every_count is null)),
      check ((window_starts_at is null) = (window_ends_at is null)),
      check (window_ends_at > window_starts_at)
    ) with (fillfactor = 50)`,
    sql`create index usage_counters_due on billing.usage_counters (look_at)
      where look_at is not null`,
    sql`create table billing.usage_keys (
      subscription_id uuid not null,
      quota text not null,
      key text not null,
      units bigint not null check (units > 0),
      counted_at timestamptz(3) not null,
      written_by uuid not null,
      primary key (subscription_id, quota, key)
    )`,
    sql`create index usage_keys_counted on billing.usage_keys (counted_at)`,
    sql`alter table billing.deliveries add column quota text, add column quota_event bigint`,
  ])
}
