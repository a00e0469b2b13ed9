import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * Documents: ours, numbered without gaps, and what providers say of theirs. The number of a series is
 * counted in a row of its own, which whoever issues holds until the commit. No foreign keys, as
 * between payments and subscriptions.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [...invoices, ...payments, ...deferredEvents])
}

const invoices = [
  sql`create table billing.invoices (
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
    provider_reference text,
    url text,
    currency text not null check (currency ~ '^[A-Z]{3}$'),
    total bigint not null check (total >= 0 and total <= 9007199254740991),
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
  )`,
  sql`create unique index invoices_number on billing.invoices (series, number)
    where number is not null`,
  sql`create unique index invoices_period on billing.invoices (period_id)
    where period_id is not null`,
  // One that is void can be followed by another, of the same charge.
  sql`create unique index invoices_payment on billing.invoices (payment_id)
    where issuer = 'us' and status <> 'void'`,
  sql`create index invoices_of_payment on billing.invoices (payment_id)
    where payment_id is not null`,
  sql`create unique index invoices_provider_reference on billing.invoices
    (gateway, provider_reference, coalesce(merchant_account, ''))
    where provider_reference is not null`,
  sql`create index invoices_payable on billing.invoices
    (payable_type, payable_id, issued_at desc, id desc)`,
  sql`create index invoices_subscription on billing.invoices
    (subscription_id, issued_at desc, id desc) where subscription_id is not null`,
  sql`create index invoices_issued on billing.invoices (issued_at desc, id desc)`,
  // What is still owed: a process that knows of no documents leaves some of them here.
  sql`create index invoices_unpaid on billing.invoices (id) where status = 'issued'`,
  sql`create table billing.invoice_series (
    series text primary key,
    last bigint not null check (last > 0)
  )`,
]

const payments = [
  // The document that is to be marked when the payment is paid; null: nobody looks for any.
  sql`alter table billing.payments add column invoice_id uuid`,
]

const deferredEvents = [
  // As those of subscriptions: older versions take what is `pending`, and could not load it.
  sql`alter table billing.deliveries
    drop constraint deliveries_subscription,
    add constraint deliveries_subscription check
      ((subscription_id is null and invoice_id is null)
          = (state in ('pending', 'processing', 'failed'))
        or state = 'processed') not valid`,
]
