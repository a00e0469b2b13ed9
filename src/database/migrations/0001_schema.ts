import { sql, type QueryExecutorProvider } from 'kysely'

/** The whole schema, by subject. The statements go to the server as one text. */
export async function up(db: QueryExecutorProvider): Promise<void> {
  await sql.raw(schema).execute(db)
}

const schema = `
-- PAYMENTS -----------------------------------------------------------------------------------------

create table billing.payments (
  id uuid primary key,
  type text not null default 'charge' check (type in ('charge', 'refund')),
  parent_id uuid references billing.payments (id),
  gateway text not null,
  merchant_account text,
  live boolean,
  status text not null default 'pending'
    check (status in ('pending', 'paid', 'failed', 'canceled')),
  -- What JavaScript can hold as a number: the amount goes out as JSON.
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
  subscription_reference text,
  period_id uuid,
  saved_card_id uuid,
  -- The document that is marked when the payment is paid.
  invoice_id uuid,
  checkout text not null default 'none'
    check (checkout in ('none', 'unknown', 'open', 'refused', 'closed')),
  checkout_url text,
  operation_error text,
  decline_code text,
  save_card boolean not null default false,
  payment_method_id uuid,
  handed_at timestamptz(3),
  answered_at timestamptz(3),
  next_poll_at timestamptz(3),
  poll_error text,
  written_by uuid,
  expires_at timestamptz(3),
  created_at timestamptz(3) not null default statement_timestamp(),
  updated_at timestamptz(3) not null default statement_timestamp(),
  check ((type = 'refund') = (parent_id is not null))
);
-- The reference before the account: a callback names a charge by its reference, of any account.
create unique index payments_checkout_reference on billing.payments
  (gateway, type, checkout_reference, coalesce(merchant_account, ''))
  where checkout_reference is not null;
create unique index payments_provider_reference on billing.payments
  (gateway, type, provider_reference, coalesce(merchant_account, ''))
  where provider_reference is not null;
-- Not unique: a payment that is paid is never refused for its subscription.
create index payments_subscription_reference on billing.payments
  (gateway, subscription_reference) where subscription_reference is not null;
-- Of a period, one payment at most can still take money.
create unique index payments_live_of_period on billing.payments (period_id)
  where period_id is not null and status <> 'paid' and checkout in ('unknown', 'open');
create index payments_period on billing.payments (period_id, id) where period_id is not null;
create index payments_created on billing.payments (created_at desc, id desc);
create index payments_parent on billing.payments (parent_id) where parent_id is not null;
create index payments_due on billing.payments (gateway, next_poll_at)
  where next_poll_at is not null and ((type = 'charge' and status <> 'paid')
    or (type = 'refund' and status = 'pending'));
-- The same, those first that were handed over last: what is due is seen in the index.
create index payments_due_youngest on billing.payments
  (gateway, (coalesce(handed_at, created_at)) desc, next_poll_at)
  where next_poll_at is not null and ((type = 'charge' and status <> 'paid')
    or (type = 'refund' and status = 'pending'));
create index payments_due_unanswered on billing.payments
  (gateway, (coalesce(handed_at, created_at)) desc, next_poll_at)
  where next_poll_at is not null and ((type = 'refund' and status = 'pending')
    or (type = 'charge' and status = 'pending' and checkout = 'unknown'));
create index payments_unknown on billing.payments (created_at)
  where checkout = 'unknown' and status = 'pending';
create index refunds_pending on billing.payments (created_at, id)
  where type = 'refund' and status = 'pending';

create table billing.payment_transitions (
  id uuid primary key,
  payment_id uuid not null references billing.payments (id),
  payment_type text not null default 'charge',
  from_status text not null,
  to_status text not null,
  cause text not null check (cause in ('call', 'poll', 'refund', 'operator', 'service')),
  webhook_call_id uuid,
  at timestamptz(3) not null default clock_timestamp(),
  -- Paid stays paid. Only a refund can fail afterwards: the bank sends the money back.
  check (from_status <> to_status and (
    from_status <> 'paid' or (payment_type = 'refund' and to_status = 'failed')))
);
create index payment_transitions_payment on billing.payment_transitions (payment_id, id);

create table billing.payment_methods (
  id uuid primary key,
  gateway text not null,
  merchant_account text,
  live boolean,
  status text not null check (status in ('attached', 'detached')),
  provider_reference text not null,
  customer_reference text,
  payment_id uuid references billing.payments (id),
  kind text,
  brand text,
  last_four text,
  expiry_month integer check (expiry_month between 1 and 12),
  expiry_year integer,
  token bytea,
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  -- What charges a card is deleted with it.
  check (status = 'attached' or token is null)
);
create unique index payment_methods_provider_reference on billing.payment_methods
  (gateway, provider_reference, coalesce(merchant_account, ''));
create index payment_methods_payment on billing.payment_methods (payment_id)
  where payment_id is not null;
-- The two tables refer to each other, so one of the two keys follows both.
alter table billing.payments add foreign key (payment_method_id)
  references billing.payment_methods (id);

create table billing.disputes (
  id uuid primary key,
  payment_id uuid not null references billing.payments (id),
  gateway text not null,
  provider_reference text not null,
  -- Of what gave the money back, where that has an id of its own; both are the same until its dispute
  -- is known.
  reversal_reference text,
  -- In the provider's words: what gives money back ends a dispute of its own kind.
  kind text,
  status text not null check (status in ('open', 'won', 'lost')),
  -- It was lost by a refund, whose own row counts.
  by_refund boolean not null default false,
  amount bigint check (amount between 0 and 9007199254740991),
  currency text,
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  unique (payment_id, provider_reference),
  unique (payment_id, reversal_reference)
);
create index disputes_open on billing.disputes (created_at, id) where status = 'open';
-- A day's totals count disputes by when they ended.
create index disputes_updated on billing.disputes (updated_at);

-- What providers were asked about a payment. Equal answers in a row are one row.
create table billing.payment_activity (
  id uuid primary key,
  payment_id uuid not null,
  operation text not null,
  result text not null,
  detail text,
  times integer not null default 1 check (times > 0),
  duration_ms integer not null check (duration_ms >= 0),
  created_at timestamptz(3) not null default statement_timestamp(),
  updated_at timestamptz(3) not null default statement_timestamp()
);
create index payment_activity_payment on billing.payment_activity (payment_id, id);

-- What payments are looked up by, each as the hash of its text. These rows are only inserted, while
-- an index of payments is written at every change of a status. The key has the order of a list, so
-- that a page of a customer with a million payments reads a page.
create table billing.payment_keys (
  key bytea not null,
  created_at timestamptz(3) not null,
  payment_id uuid not null,
  primary key (key, created_at, payment_id)
);
create table billing.walks (
  name text primary key,
  created_at timestamptz(3) not null,
  payment_id uuid not null
);

-- What was paid and refunded in each day in UTC, computed from the history of the payments. Sums of
-- money have no limit. The account is empty where the payments name none.
create table billing.day_totals (
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
  primary key (day, gateway, merchant_account, mode, currency)
);
-- As of when a day was computed, whether or not anything moved in it.
create table billing.totaled_days (
  day date primary key,
  computed_at timestamptz(3) not null
);

-- CALLS --------------------------------------------------------------------------------------------

-- Stored callbacks. They are the queue, too.
create table billing.webhook_calls (
  id uuid primary key,
  gateway text not null,
  queue text not null,
  url text not null,
  headers json not null,
  kind text not null check (kind in ('json', 'form', 'unreadable')),
  payload json,
  body bytea,
  -- The bytes do not show it.
  body_encrypted boolean not null default false,
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
  dedup_claims jsonb not null default '[]',
  needs_review boolean not null default false,
  payment_id uuid,
  awaiting text,
  awaiting_also text,
  received_at timestamptz(3) not null default clock_timestamp(),
  processed_at timestamptz(3),
  check ((kind = 'unreadable') = (payload is null)),
  check (payload is not null or body is not null),
  check ((state = 'processing') = (lease_token is not null)),
  check ((lease_token is null) = (lease_until is null)),
  check (not body_encrypted or body is not null)
);
-- What is over 2 KB is stored beside the table, so that an update of the call does not copy it, and
-- uncompressed: it is read once and then deleted.
alter table billing.webhook_calls
  alter column payload set storage external, alter column body set storage external;
create index webhook_calls_pending on billing.webhook_calls (next_attempt_at, id)
  where state = 'pending';
-- Few rows, looked for every few seconds.
create index webhook_calls_alone on billing.webhook_calls (next_attempt_at)
  where state = 'pending' and leases_lost > 0;
create index webhook_calls_leased on billing.webhook_calls (lease_until)
  where state = 'processing';
create index webhook_calls_failed on billing.webhook_calls (received_at, id)
  where state = 'failed';
create index webhook_calls_awaiting on billing.webhook_calls (awaiting)
  where awaiting is not null;
create index webhook_calls_awaiting_also on billing.webhook_calls (awaiting_also)
  where awaiting_also is not null;
create index webhook_calls_review on billing.webhook_calls (received_at, id) where needs_review;
create index webhook_calls_payment on billing.webhook_calls (payment_id)
  where payment_id is not null;

-- What a few refused callbacks looked like: no body, no query, no value of a header. Five of each
-- gateway and reason, overwritten in turn.
create table billing.refusals (
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
  primary key (gateway, reason, slot)
);
create index refusals_at on billing.refusals (at);

-- What a person must look at. It outlives the call that said so, so it has no foreign keys. The key
-- is a hash of what was found, by which the same news finds its row again.
create table billing.reviews (
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
);
create index reviews_open on billing.reviews (id) where state = 'open';
create index reviews_payment on billing.reviews (payment_id, id) where payment_id is not null;

-- Which calls said it. A call is marked as long as one of its reviews is open.
create table billing.review_calls (
  call_id uuid not null,
  review_id uuid not null,
  primary key (call_id, review_id)
);
create index review_calls_review on billing.review_calls (review_id);

-- EVENTS AND LISTENERS -----------------------------------------------------------------------------

-- An event is claimed by inserting its row: its key happens once.
create table billing.events (
  id uuid primary key,
  dedup_key text not null unique,
  type text not null,
  payment_id uuid references billing.payments (id),
  payment_method_id uuid references billing.payment_methods (id),
  subscription_id uuid,
  invoice_id uuid,
  webhook_call_id uuid,
  source text not null
    check (source in ('call', 'poll', 'refund', 'operator', 'service', 'browser')),
  data jsonb not null default '{}',
  -- It was overtaken before it was dispatched.
  superseded boolean not null default false,
  created_at timestamptz(3) not null default clock_timestamp(),
  -- Its place in the feed. It is given after the commit.
  position bigint
);
create index events_payment on billing.events (payment_id, id) where payment_id is not null;
create index events_subscription on billing.events (subscription_id, id)
  where subscription_id is not null;
-- Not unique: a process holds the row of the feed while it gives positions, so none is given twice.
create index events_position on billing.events (position) where position is not null;
create index events_unnumbered on billing.events (created_at, id) where position is null;

create table billing.feeds (
  name text primary key,
  last_position bigint not null default 0 check (last_position >= 0)
);
insert into billing.feeds (name) values ('events');

create table billing.listeners (
  name text primary key,
  event_types text[] not null,
  queued boolean not null,
  registered_at timestamptz(3) not null default clock_timestamp()
);

-- A guard row makes its transaction fail at the commit: its key refers to no row, and the constraint
-- is deferred. Quittance deletes the row before its own commit, so a listener cannot commit instead.
create table billing.commit_guards (
  id uuid primary key,
  key uuid not null,
  constraint only_quittance_commits foreign key (key) references billing.commit_guards (id)
    deferrable initially deferred
);

-- Events that are due to queued listeners.
create table billing.deliveries (
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
);
create index deliveries_pending on billing.deliveries (next_attempt_at, id)
  where state = 'pending';
-- Few rows, looked for every few seconds.
create index deliveries_alone on billing.deliveries (next_attempt_at)
  where state = 'pending' and leases_lost > 0;
create index deliveries_leased on billing.deliveries (lease_until) where state = 'processing';
create index deliveries_failed on billing.deliveries (id) where state = 'failed';

-- Events that have yet to be claimed, where no call brings them up again. An event has the id of its
-- row here.
create table billing.deferred_events (
  id uuid primary key,
  dedup_key text not null unique,
  type text not null,
  queue text not null,
  -- Written with the change that it tells of, and dispatched in order.
  outbox boolean not null generated always as (subscription_id is not null
    or invoice_id is not null or type = 'EndpointDisabled') stored,
  state text not null default 'pending'
    check (state in ('pending', 'processing', 'processed', 'failed')),
  attempts integer not null default 0,
  leases_lost integer not null default 0,
  times_returned integer not null default 0,
  next_attempt_at timestamptz not null default clock_timestamp(),
  lease_token uuid,
  lease_until timestamptz,
  exception text,
  payment_id uuid references billing.payments (id),
  payment_method_id uuid references billing.payment_methods (id),
  subscription_id uuid,
  invoice_id uuid,
  data jsonb,
  event_number integer,
  quota text,
  quota_event bigint,
  webhook_call_id uuid,
  cause text not null check (cause in ('call', 'poll', 'refund', 'operator', 'service')),
  created_at timestamptz(3) not null default clock_timestamp(),
  processed_at timestamptz(3),
  check ((state = 'processing') = (lease_token is not null)),
  check ((lease_token is null) = (lease_until is null))
);
-- What is in the outbox is taken apart, and must not be read to find what is not.
create index deferred_events_pending on billing.deferred_events (outbox, next_attempt_at, id)
  where state = 'pending';
-- Few rows, looked for every few seconds.
create index deferred_events_alone on billing.deferred_events (next_attempt_at)
  where state = 'pending' and leases_lost > 0;
create index deferred_events_leased on billing.deferred_events (lease_until)
  where state = 'processing';
create index deferred_events_failed on billing.deferred_events (id) where state = 'failed';
create index deferred_events_payment on billing.deferred_events (payment_id)
  where payment_id is not null;
-- Events of a subscription are dispatched in their order.
create index deferred_events_subscription on billing.deferred_events (subscription_id, event_number)
  where subscription_id is not null and state <> 'processed';
-- That a document is issued is dispatched before that it is paid.
create index deferred_events_invoice on billing.deferred_events (invoice_id)
  where invoice_id is not null and state <> 'processed';
create index deferred_events_call on billing.deferred_events (webhook_call_id)
  where webhook_call_id is not null and state <> 'processed';

-- Why each attempt of a call, a delivery or a deferred event failed. The last two are told apart by
-- their ids.
create table billing.failed_attempts (
  id uuid primary key,
  call_id uuid,
  delivery_id uuid,
  attempt integer not null check (attempt > 0),
  listener text,
  exception text not null,
  created_at timestamptz(3) not null default statement_timestamp(),
  constraint failed_attempts_of_one check ((call_id is null) <> (delivery_id is null))
);
create index failed_attempts_call on billing.failed_attempts (call_id, id)
  where call_id is not null;
create index failed_attempts_delivery on billing.failed_attempts (delivery_id, id)
  where delivery_id is not null;

-- ENDPOINTS ----------------------------------------------------------------------------------------

-- Readers of the feed that the service runs. All up to the position is dealt with, and beyond it what
-- is in ahead. The revision changes with what is sent, and where.
create table billing.endpoints (
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
  created_at timestamptz(3) not null default statement_timestamp(),
  updated_at timestamptz(3) not null default statement_timestamp(),
  constraint endpoints_disabled check (enabled = (disabled_at is null)),
  constraint endpoints_reason check (enabled = (disabled_reason is null)),
  constraint endpoints_lease check ((lease_token is null) = (lease_until is null)),
  -- The secrets of a declared endpoint stay in its configuration.
  constraint endpoints_secrets check ((source = 'api') = (secrets is not null))
);

-- What did not go to an endpoint at first, or is sent again.
create table billing.forwards (
  endpoint_id uuid not null,
  event_id uuid not null,
  position bigint not null,
  state text not null check (state in ('pending', 'delivered', 'failed')),
  cause text not null check (cause in ('retry', 'resend')),
  attempts integer not null check (attempts >= 0),
  next_attempt_at timestamptz(3),
  created_at timestamptz(3) not null default statement_timestamp(),
  updated_at timestamptz(3) not null default statement_timestamp(),
  primary key (endpoint_id, event_id),
  constraint forwards_next check ((state = 'pending') = (next_attempt_at is not null))
);
create index forwards_due on billing.forwards (endpoint_id, next_attempt_at)
  where state = 'pending';
create index forwards_oldest on billing.forwards (endpoint_id, position) where state = 'pending';
create index forwards_failed on billing.forwards (updated_at, endpoint_id, event_id)
  where state = 'failed';

create table billing.forward_attempts (
  id uuid primary key,
  endpoint_id uuid not null,
  event_id uuid not null,
  attempt integer not null check (attempt >= 0),
  at timestamptz(3) not null default now(),
  result text not null,
  status integer,
  duration_ms integer not null check (duration_ms >= 0),
  response text
);
create index forward_attempts_endpoint on billing.forward_attempts (endpoint_id, id);
create index forward_attempts_event on billing.forward_attempts (event_id, endpoint_id);

-- SUBSCRIPTIONS ------------------------------------------------------------------------------------

-- No foreign key leads to payments, nor from there: the tables can be on different servers.
create table billing.subscriptions (
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
  amount bigint not null check (amount between 0 and 9007199254740991),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  every_unit text not null check (every_unit in ('day', 'week', 'month', 'year')),
  every_count integer not null check (every_count between 1 and 366),
  next_terms json,
  due_quotas json,
  -- Null of one that was made here: it is stated with our terms.
  terms_by text constraint subscriptions_terms_by check (terms_by in ('payment', 'provider')),
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
  -- When a callback asked for a sync. The lease takes it away, so a later wish is seen.
  sync_wanted_at timestamptz,
  synced_at timestamptz,
  content json,
  written_by uuid,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check ((status = 'canceled') = (ended_at is not null)),
  check ((ended_at is null) = (end_reason is null)),
  check ((lease_token is null) = (lease_until is null))
);
create unique index subscriptions_provider_reference on billing.subscriptions
  (gateway, provider_reference, coalesce(merchant_account, ''))
  where provider_reference is not null;
-- A look is for one of the two kinds: what rests of one does not slow down the other.
create index subscriptions_due on billing.subscriptions (managed_by, next_action_at)
  where next_action_at is not null;
create index subscriptions_sync_wanted on billing.subscriptions (sync_wanted_at)
  where sync_wanted_at is not null;
create index subscriptions_payable on billing.subscriptions
  (payable_type, payable_id, created_at, id);
create index subscriptions_created on billing.subscriptions (created_at desc, id desc);
create index subscriptions_card on billing.subscriptions (payment_method_id)
  where payment_method_id is not null and ended_at is null;

create table billing.subscription_periods (
  id uuid primary key,
  subscription_id uuid not null references billing.subscriptions (id),
  number integer not null check (number >= 0),
  kind text not null check (kind in ('trial', 'paid', 'brought')),
  state text not null check (state in ('open', 'paid', 'void', 'free')),
  starts_at timestamptz(3) not null,
  ends_at timestamptz(3) not null,
  nominal_starts_at timestamptz(3) not null,
  amount bigint not null check (amount between 0 and 9007199254740991),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  status_before text not null,
  skipped_periods integer not null default 0,
  time_assumed boolean not null default false,
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
);
-- The provider of a managed subscription may tell of a later period first: numbers have no time.
create index subscription_periods_time on billing.subscription_periods
  (subscription_id, starts_at, number);
-- Of a subscription, one period at most is owed.
create unique index subscription_periods_open on billing.subscription_periods (subscription_id)
  where state = 'open';

create table billing.subscription_transitions (
  id uuid primary key,
  subscription_id uuid not null references billing.subscriptions (id),
  from_status text,
  to_status text not null,
  reason text not null,
  period_id uuid,
  at timestamptz(3) not null,
  check (from_status is distinct from to_status),
  check (from_status is distinct from 'canceled')
);
create index subscription_transitions_subscription on billing.subscription_transitions
  (subscription_id, id);

-- USAGE --------------------------------------------------------------------------------------------

-- The row of a busy counter is written some hundred times a second. Half of each page is kept free,
-- and no index holds what such a write changes, so that the new row stays in its page, and the room of
-- the old one is used again at once (a HOT update).
create table billing.usage_counters (
  subscription_id uuid not null,
  quota text not null check (quota ~ '^[a-z0-9_.-]{1,64}$'),
  units_limit bigint check (units_limit >= 0),
  used bigint not null default 0 check (used >= 0),
  every_unit text check (every_unit in ('day', 'week', 'month', 'year')),
  every_count integer check (every_count between 1 and 366),
  anchor_at timestamptz(3) not null,
  time_zone text not null,
  window_period_id uuid,
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
) with (fillfactor = 50);
create index usage_counters_due on billing.usage_counters (look_at) where look_at is not null;

create table billing.usage_keys (
  subscription_id uuid not null,
  quota text not null,
  key text not null,
  units bigint not null check (units > 0),
  counted_at timestamptz(3) not null,
  written_by uuid not null,
  primary key (subscription_id, quota, key)
);
-- Keys are pruned by their time. The keys of a flush share it, so the index holds it once for them.
create index usage_keys_counted on billing.usage_keys (counted_at);

-- INVOICES -----------------------------------------------------------------------------------------

-- Documents: our own, numbered without gaps, and what providers say of theirs. They have no foreign
-- keys: the tables can be on different servers.
create table billing.invoices (
  id uuid primary key,
  issuer text not null check (issuer in ('us', 'provider')),
  status text not null check (status in ('issued', 'paid', 'void')),
  series text,
  number bigint check (number > 0),
  number_text text,
  period_id uuid,
  payment_id uuid,
  subscription_id uuid,
  payable_type text not null,
  payable_id text not null,
  gateway text not null,
  merchant_account text,
  live boolean,
  provider_reference text,
  url text,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  total bigint not null check (total between 0 and 9007199254740991),
  lines json not null,
  seller json,
  buyer json,
  locale text,
  time_zone text not null,
  issued_at timestamptz(3) not null,
  due_at timestamptz(3),
  paid_at timestamptz(3),
  voided_at timestamptz(3),
  created_at timestamptz(3) not null default statement_timestamp(),
  updated_at timestamptz(3) not null default statement_timestamp(),
  check ((issuer = 'us') = (number is not null)),
  check ((issuer = 'us') = (series is not null)),
  check ((issuer = 'us') = (seller is not null)),
  check ((issuer = 'provider') = (provider_reference is not null)),
  check ((status = 'paid') = (paid_at is not null)),
  check ((status = 'void') = (voided_at is not null))
);
create unique index invoices_number on billing.invoices (series, number)
  where number is not null;
create unique index invoices_period on billing.invoices (period_id) where period_id is not null;
-- A void one can be followed by another of the same charge.
create unique index invoices_payment on billing.invoices (payment_id)
  where issuer = 'us' and status <> 'void';
create index invoices_of_payment on billing.invoices (payment_id) where payment_id is not null;
create unique index invoices_provider_reference on billing.invoices
  (gateway, provider_reference, coalesce(merchant_account, ''))
  where provider_reference is not null;
create index invoices_payable on billing.invoices
  (payable_type, payable_id, issued_at desc, id desc);
create index invoices_subscription on billing.invoices
  (subscription_id, issued_at desc, id desc) where subscription_id is not null;
create index invoices_issued on billing.invoices (issued_at desc, id desc);
create index invoices_unpaid on billing.invoices (id) where status = 'issued';

-- The last number of a series, and its date. A process holds the row from the number to the commit, so
-- that there are no gaps, and no document is dated before the number before it.
create table billing.invoice_series (
  series text primary key,
  last bigint not null check (last > 0),
  issued_at timestamptz(3) not null
);

-- OPERATORS ----------------------------------------------------------------------------------------

-- Who may act. Of tokens and of the ids of sessions only a hash is stored: a dump opens nothing.
create table billing.operators (
  id uuid primary key,
  name text not null unique,
  role text not null check (role in ('viewer', 'operator')),
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  created_at timestamptz(3) not null default statement_timestamp(),
  expires_at timestamptz(3)
);

-- A session ends with its operator. One that was begun by a token of the settings has a proof
-- instead, which fits that token and the id of the session alone.
create table billing.operator_sessions (
  id_hash bytea primary key check (octet_length(id_hash) = 32),
  operator text not null,
  role text not null check (role in ('viewer', 'operator')),
  operator_id uuid references billing.operators (id) on delete cascade,
  token_proof bytea check (octet_length(token_proof) = 32),
  created_at timestamptz(3) not null default statement_timestamp(),
  used_at timestamptz(3) not null default statement_timestamp(),
  ends_at timestamptz(3) not null,
  proved_at timestamptz(3) not null default statement_timestamp(),
  constraint operator_sessions_token check ((operator_id is null) = (token_proof is not null))
);
create index operator_sessions_operator on billing.operator_sessions (operator);
create index operator_sessions_operator_id on billing.operator_sessions (operator_id)
  where operator_id is not null;

-- Who did what. It names operators that may be gone, and is never pruned.
create table billing.operator_actions (
  id uuid primary key,
  at timestamptz(3) not null default statement_timestamp(),
  operator text not null,
  via text not null check (via in ('console', 'api', 'cli')),
  action text not null,
  subject text,
  detail json not null,
  outcome text
);
create index operator_actions_at on billing.operator_actions (at, id);
create index operator_actions_operator on billing.operator_actions (operator, at, id);
create index operator_actions_subject on billing.operator_actions (subject, at, id)
  where subject is not null;

-- Replays of all that failed and matches a filter. The row says how far the run has come, so that any
-- process can go on with it.
create table billing.runs (
  id uuid primary key,
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
  phase text not null check (phase in ('call', 'delivery', 'deferred_event')),
  cursor_at timestamptz(3),
  cursor_id uuid,
  item_cursor uuid,
  looked_at timestamptz not null default statement_timestamp(),
  lease_token uuid,
  lease_until timestamptz,
  created_at timestamptz(3) not null default statement_timestamp(),
  finished_at timestamptz(3),
  constraint runs_counts check (failed_again between 0 and ended and ended <= done),
  constraint runs_lease check ((lease_token is null) = (lease_until is null)),
  constraint runs_finished check ((state in ('stopped', 'finished')) = (finished_at is not null))
);
create index runs_created on billing.runs (created_at, id);
create index runs_open on billing.runs (looked_at)
  where state in ('running', 'stopping') or ended < done;

-- What a run put back into the queue and has not ended since.
create table billing.run_items (
  run_id uuid not null references billing.runs (id) on delete cascade,
  id uuid not null,
  kind text not null check (kind in ('call', 'delivery', 'deferred_event')),
  primary key (run_id, id)
);

-- THE SERVICE --------------------------------------------------------------------------------------

-- A text that only readers of this database know: it tells databases apart. There is one row.
create table billing.installation (
  one boolean primary key default true check (one),
  key uuid not null default gen_random_uuid()
);
insert into billing.installation default values;

create table billing.schedules (
  name text primary key,
  next_run_at timestamptz not null,
  lease_token uuid,
  lease_until timestamptz,
  last_run_at timestamptz,
  last_error text,
  held_reason text
);

-- Each running worker has a row, by which it is counted.
create table billing.workers (
  id uuid primary key,
  seen_at timestamptz not null
);

-- What was counted, for operators. Each process writes its minutes. A quarter of an hour and an hour
-- are sums over all of them. The label joins the labels of the metric besides the gateway.
create table billing.counts (
  span text not null check (span in ('minute', 'quarter', 'hour')),
  at timestamptz(0) not null,
  metric text not null,
  gateway text not null,
  label text not null,
  process text not null,
  value double precision not null check (value >= 0),
  primary key (span, metric, at, gateway, label, process)
);
`
