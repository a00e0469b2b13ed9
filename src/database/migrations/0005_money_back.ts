import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/** Refunds that may fail after they were paid, saved cards, and disputes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`alter table billing.payment_transitions
      drop constraint payment_transitions_check,
      add column payment_type text not null default 'charge',
      add constraint payment_transitions_check check (from_status <> to_status and (
        from_status <> 'paid' or (payment_type = 'refund' and to_status = 'failed')))`,
    sql`create table billing.payment_methods (
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
      check (status = 'attached' or token is null)
    )`,
    sql`create unique index payment_methods_provider_reference on billing.payment_methods
      (gateway, provider_reference, coalesce(merchant_account, ''))`,
    sql`create index payment_methods_payment on billing.payment_methods (payment_id)
      where payment_id is not null`,
    sql`create table billing.disputes (
      id uuid primary key,
      payment_id uuid not null references billing.payments (id),
      gateway text not null,
      provider_reference text not null,
      status text not null check (status in ('open', 'won', 'lost')),
      amount bigint check (amount between 0 and 9007199254740991),
      currency text,
      created_at timestamptz(3) not null default clock_timestamp(),
      updated_at timestamptz(3) not null default clock_timestamp(),
      unique (payment_id, provider_reference)
    )`,
    sql`alter table billing.events
      add column payment_method_id uuid references billing.payment_methods (id)`,
  ])
}
