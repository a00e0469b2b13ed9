import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/** Payments and their history, stored calls (which are the queue), events (which are the claims). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`create table billing.payments (
      id uuid primary key,
      type text not null default 'charge' check (type in ('charge', 'refund')),
      parent_id uuid references billing.payments (id),
      gateway text not null,
      merchant_account text,
      live boolean,
      status text not null default 'pending'
        check (status in ('pending', 'paid', 'failed', 'canceled')),
      amount bigint not null check (amount between 0 and 9007199254740991),
      currency text not null check (currency ~ '^[A-Z]{3}$'),
      payable_type text not null,
      payable_id text not null,
      description text,
      customer json,
      metadata json,
      return_url text,
      checkout_reference text,
      provider_reference text,
      checkout_url text,
      expires_at timestamptz(3),
      created_at timestamptz(3) not null default clock_timestamp(),
      updated_at timestamptz(3) not null default clock_timestamp(),
      check ((type = 'refund') = (parent_id is not null))
    )`,
    sql`create unique index payments_checkout_reference on billing.payments
      (gateway, type, coalesce(merchant_account, ''), checkout_reference)
      where checkout_reference is not null`,
    sql`create unique index payments_provider_reference on billing.payments
      (gateway, type, coalesce(merchant_account, ''), provider_reference)
      where provider_reference is not null`,
    sql`create index payments_created on billing.payments (created_at desc, id desc)`,
    sql`create index payments_parent on billing.payments (parent_id) where parent_id is not null`,
    sql`create table billing.payment_transitions (
      id uuid primary key,
      payment_id uuid not null references billing.payments (id),
      from_status text not null,
      to_status text not null check (from_status <> to_status and from_status <> 'paid'),
      cause text not null check (cause in ('call', 'poll', 'refund', 'operator')),
      webhook_call_id uuid,
      at timestamptz(3) not null default clock_timestamp()
    )`,
    sql`create index payment_transitions_payment on billing.payment_transitions (payment_id, id)`,
    sql`create table billing.webhook_calls (
      id uuid primary key,
      gateway text not null,
      queue text not null,
      url text not null,
      headers json not null,
      kind text not null check (kind in ('json', 'form', 'unreadable')),
      payload json,
      body bytea,
      state text not null default 'pending'
        check (state in ('pending', 'processing', 'processed', 'ignored', 'failed')),
      attempts integer not null default 0,
      leases_lost integer not null default 0,
      times_returned integer not null default 0,
      next_attempt_at timestamptz not null default clock_timestamp(),
      lease_token uuid,
      lease_until timestamptz,
      exception text,
      outcome json,
      needs_review boolean not null default false,
      payment_id uuid,
      awaiting text,
      received_at timestamptz(3) not null default clock_timestamp(),
      processed_at timestamptz(3),
      check ((kind = 'unreadable') = (payload is null)),
      check (payload is not null or body is not null),
      check ((state = 'processing') = (lease_token is not null)),
      check ((lease_token is null) = (lease_until is null))
    )`,
    sql`create index webhook_calls_pending on billing.webhook_calls (next_attempt_at, id)
      where state = 'pending'`,
    sql`create index webhook_calls_leased on billing.webhook_calls (lease_until)
      where state = 'processing'`,
    sql`create index webhook_calls_awaiting on billing.webhook_calls (awaiting)
      where awaiting is not null`,
    sql`create index webhook_calls_received on billing.webhook_calls (received_at, id)`,
    sql`create index webhook_calls_review on billing.webhook_calls (received_at, id)
      where needs_review`,
    sql`create index webhook_calls_failed on billing.webhook_calls (received_at, id)
      where state = 'failed'`,
    sql`create index webhook_calls_payment on billing.webhook_calls (payment_id)
      where payment_id is not null`,
    sql`create table billing.events (
      id uuid primary key,
      dedup_key text not null unique,
      type text not null,
      payment_id uuid references billing.payments (id),
      webhook_call_id uuid,
      source text not null check (source in ('call', 'poll', 'refund', 'operator')),
      data jsonb not null default '{}',
      created_at timestamptz(3) not null default clock_timestamp()
    )`,
    sql`create index events_created on billing.events (created_at, id)`,
    sql`create index events_payment on billing.events (payment_id, id)
      where payment_id is not null`,
    sql`create index events_call on billing.events (webhook_call_id)
      where webhook_call_id is not null`,
    sql`create table billing.deliveries (
      id uuid primary key,
      event_id uuid not null references billing.events (id) on delete cascade,
      listener text not null,
      queue text not null,
      state text not null default 'pending'
        check (state in ('pending', 'processing', 'processed', 'failed')),
      attempts integer not null default 0,
      leases_lost integer not null default 0,
      times_returned integer not null default 0,
      next_attempt_at timestamptz not null default clock_timestamp(),
      lease_token uuid,
      lease_until timestamptz,
      exception text,
      created_at timestamptz(3) not null default clock_timestamp(),
      processed_at timestamptz(3),
      unique (event_id, listener),
      check ((state = 'processing') = (lease_token is not null)),
      check ((lease_token is null) = (lease_until is null))
    )`,
    sql`create index deliveries_pending on billing.deliveries (next_attempt_at, id)
      where state = 'pending'`,
    sql`create index deliveries_leased on billing.deliveries (lease_until)
      where state = 'processing'`,
    sql`create table billing.listeners (
      name text primary key,
      event_types text[] not null,
      queued boolean not null,
      registered_at timestamptz(3) not null default clock_timestamp()
    )`,
    sql`create table billing.schedules (
      name text primary key,
      next_run_at timestamptz not null,
      lease_token uuid,
      lease_until timestamptz,
      last_run_at timestamptz,
      last_error text
    )`,
  ])
}
