import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * Subscriptions that we charge. Nothing here refers to payments by a foreign key, nor payments to it:
 * the tables may live on different servers. That a period is charged once at a time, and open once,
 * is kept by unique indexes.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    ...subscriptions,
    ...periods,
    ...transitions,
    ...payments,
    ...deferredEvents,
  ])
}

const causes = `('call', 'poll', 'refund', 'operator', 'service')`

const subscriptions = [
  sql`create table billing.subscriptions (
    id uuid primary key,
    managed_by text not null check (managed_by in ('local', 'provider')),
    gateway text not null,
    merchant_account text,
    live boolean,
    provider_reference text,
    status text not null check (status in
      ('incomplete', 'trialing', 'active', 'past_due', 'paused', 'canceled')),
    plan text,
    payable_type text not null,
    payable_id text not null,
    description text,
    customer json,
    metadata json,
    amount bigint not null check (amount >= 0 and amount <= 9007199254740991),
    currency text not null check (currency ~ '^[A-Z]{3}$'),
    every_unit text not null check (every_unit in ('day', 'week', 'month', 'year')),
    every_count integer not null check (every_count between 1 and 366),
    next_terms json,
    time_zone text not null,
    anchor_at timestamptz(3),
    anchor_number integer not null,
    payment_method_id uuid,
    grace_access boolean not null,
    trial_ends_at timestamptz(3),
    paid_until timestamptz(3),
    cancel_at timestamptz(3),
    pause_at timestamptz(3),
    resume_at timestamptz(3),
    suspended_at timestamptz(3),
    ended_at timestamptz(3),
    end_reason text check (end_reason in
      ('requested', 'payment_failed', 'trial_ended', 'incomplete', 'provider')),
    event_number integer not null default 0,
    next_action_at timestamptz(3),
    lease_token uuid,
    lease_until timestamptz,
    action_error text,
    sync_wanted_at timestamptz,
    synced_at timestamptz,
    content json,
    written_by uuid,
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    check ((status = 'canceled') = (ended_at is not null)),
    check ((ended_at is null) = (end_reason is null)),
    check ((lease_token is null) = (lease_until is null))
  )`,
  sql`create index subscriptions_due on billing.subscriptions (next_action_at)
    where next_action_at is not null`,
  sql`create unique index subscriptions_provider_reference on billing.subscriptions
    (gateway, provider_reference, coalesce(merchant_account, ''))
    where provider_reference is not null`,
  sql`create index subscriptions_payable on billing.subscriptions
    (payable_type, payable_id, created_at, id)`,
  sql`create index subscriptions_created on billing.subscriptions (created_at desc, id desc)`,
  sql`create index subscriptions_card on billing.subscriptions (payment_method_id)
    where payment_method_id is not null and ended_at is null`,
]

const periods = [
  sql`create table billing.subscription_periods (
    id uuid primary key,
    subscription_id uuid not null references billing.subscriptions (id),
    number integer not null check (number >= 0),
    kind text not null check (kind in ('trial', 'paid', 'brought')),
    state text not null check (state in ('open', 'paid', 'void', 'free')),
    starts_at timestamptz(3) not null,
    ends_at timestamptz(3) not null,
    nominal_starts_at timestamptz(3) not null,
    amount bigint not null check (amount >= 0 and amount <= 9007199254740991),
    currency text not null check (currency ~ '^[A-Z]{3}$'),
    status_before text not null,
    skipped_periods integer not null default 0,
    payments_made integer not null default 0,
    declines integer not null default 0,
    not_made integer not null default 0,
    first_failed_at timestamptz(3),
    next_attempt_at timestamptz(3),
    needs text not null default 'nothing' check (needs in ('nothing', 'new_card', 'confirmation')),
    paid_payment_id uuid unique,
    paid_at timestamptz(3),
    last_notice integer,
    unique (subscription_id, number),
    check (ends_at > starts_at),
    check (state <> 'paid' or amount = 0 or paid_payment_id is not null),
    check (paid_payment_id is null or state = 'paid')
  )`,
  sql`create unique index subscription_periods_open on billing.subscription_periods
    (subscription_id) where state = 'open'`,
]

const transitions = [
  sql`create table billing.subscription_transitions (
    id uuid primary key,
    subscription_id uuid not null references billing.subscriptions (id),
    from_status text,
    to_status text not null,
    reason text not null,
    period_id uuid,
    at timestamptz(3) not null,
    check (from_status is distinct from to_status),
    check (from_status is distinct from 'canceled')
  )`,
  sql`create index subscription_transitions_subscription on billing.subscription_transitions
    (subscription_id, id)`,
]

const payments = [
  sql`alter table billing.payments add column period_id uuid, add column taken_status text,
    add column saved_card_id uuid`,
  // Of a period, one payment at most can still take money.
  sql`create unique index payments_live_of_period on billing.payments (period_id)
    where period_id is not null and status <> 'paid' and checkout in ('unknown', 'open')`,
]

const deferredEvents = [
  sql`alter table billing.events add column subscription_id uuid, add column invoice_id uuid`,
  sql`alter table billing.deliveries add column subscription_id uuid, add column invoice_id uuid,
    add column data jsonb, add column event_number integer, add column webhook_call_id uuid`,
  // Older versions take what is `pending`, and would finish an event that they cannot load: those of
  // subscriptions are never in a state that these know as work.
  sql`alter table billing.deliveries
    drop constraint deliveries_state_check,
    add constraint deliveries_state_check check (state in
      ('pending', 'processing', 'waiting', 'held', 'processed', 'failed', 'given_up')) not valid,
    drop constraint deliveries_check,
    add constraint deliveries_check check
      ((state in ('processing', 'held')) = (lease_token is not null)) not valid,
    add constraint deliveries_subscription check
      ((subscription_id is null) = (state in ('pending', 'processing', 'failed'))
        or state = 'processed') not valid`,
  sql`alter table billing.events drop constraint events_source_check,
    add constraint events_source_check check
      (source in ('call', 'poll', 'refund', 'operator', 'service', 'browser')) not valid`,
  ...['deliveries', 'payment_transitions'].map(
    (table) => sql`alter table ${sql.table(`billing.${table}`)}
      drop constraint ${sql.ref(`${table}_cause_check`)},
      add constraint ${sql.ref(`${table}_cause_check`)} check
        (cause in ${sql.raw(causes)}) not valid`,
  ),
  sql`alter table billing.schedules add column held_reason text`,
]
