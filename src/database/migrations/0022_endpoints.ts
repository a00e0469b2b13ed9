import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * Endpoints: readers of the feed that we run, each with a cursor. `position`: all up to it is dealt
 * with; `ahead`: delivered beyond it. What did not go at first has a row of its own in `forwards`.
 * `revision` changes with what is sent, and where: whoever works on it begins anew. The `secrets` of a
 * declared one stay in its configuration.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`create table billing.endpoints (
      id uuid primary key,
      name text not null unique,
      source text not null check (source in ('api', 'config')),
      url text not null,
      description text,
      event_types text[],
      gateways text[],
      payload text not null check (payload in ('full', 'thin')),
      secrets bytea,
      max_concurrency integer not null check (max_concurrency between 1 and 64),
      rate_per_second integer check (rate_per_second > 0),
      timeout_seconds integer not null check (timeout_seconds between 1 and 60),
      enabled boolean not null default true,
      disabled_reason text check (disabled_reason in ('operator', 'gone', 'failing')),
      disabled_at timestamptz(3),
      position bigint not null check (position >= 0),
      ahead bigint[] not null default '{}',
      failures integer not null default 0 check (failures >= 0),
      failing_since timestamptz(3),
      next_at timestamptz(3),
      revision integer not null default 0,
      lease_token uuid,
      lease_until timestamptz,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint endpoints_disabled check (enabled = (disabled_at is null)),
      constraint endpoints_reason check (enabled = (disabled_reason is null)),
      constraint endpoints_lease check ((lease_token is null) = (lease_until is null)),
      constraint endpoints_secrets check ((source = 'api') = (secrets is not null))
    )`,
    sql`create table billing.forwards (
      endpoint_id uuid not null,
      event_id uuid not null,
      position bigint not null,
      state text not null check (state in ('pending', 'delivered', 'failed')),
      cause text not null check (cause in ('retry', 'resend')),
      attempts integer not null check (attempts >= 0),
      next_attempt_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      primary key (endpoint_id, event_id),
      constraint forwards_next check ((state = 'pending') = (next_attempt_at is not null))
    )`,
    sql`create index forwards_due on billing.forwards (endpoint_id, next_attempt_at)
      where state = 'pending'`,
    sql`create index forwards_oldest on billing.forwards (endpoint_id, position)
      where state = 'pending'`,
    sql`create table billing.forward_attempts (
      id uuid primary key,
      endpoint_id uuid not null,
      event_id uuid not null,
      attempt integer not null check (attempt >= 0),
      at timestamptz(3) not null default now(),
      result text not null,
      status integer,
      duration_ms integer not null check (duration_ms >= 0),
      response text
    )`,
    sql`create index forward_attempts_endpoint on billing.forward_attempts (endpoint_id, id)`,
    sql`create index forward_attempts_event on billing.forward_attempts (event_id, endpoint_id)`,
    // That an endpoint was disabled waits as events of subscriptions do: older versions cannot load it.
    sql`alter table billing.deliveries
      drop constraint deliveries_subscription,
      add constraint deliveries_subscription check
        ((subscription_id is null and invoice_id is null
            and coalesce(event_type <> 'EndpointDisabled', true))
            = (state in ('pending', 'processing', 'failed'))
          or state = 'processed') not valid`,
  ])
}
