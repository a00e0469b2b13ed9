import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/** Checkouts, charges and refunds that were handed to a provider, and when to poll them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`alter table billing.payments
      add column checkout text not null default 'none'
        check (checkout in ('none', 'unknown', 'open', 'refused', 'closed')),
      add column operation_error text,
      add column save_card boolean not null default false,
      add column payment_method_id uuid references billing.payment_methods (id),
      add column handed_at timestamptz(3),
      add column answered_at timestamptz(3),
      add column next_poll_at timestamptz(3),
      add column poll_error text`,
    sql`create index payments_due on billing.payments (gateway, next_poll_at)
      where next_poll_at is not null and ((type = 'charge' and status <> 'paid')
        or (type = 'refund' and status = 'pending'))`,
    // What started elsewhere is polled like what starts here.
    sql`update billing.payments set handed_at = created_at, next_poll_at = clock_timestamp()
      where type = 'charge' and status = 'pending'
        and (checkout_reference is not null or provider_reference is not null)
        and created_at > clock_timestamp() - interval '30 days'`,
    sql`create index payments_paid on billing.payments (updated_at) where status = 'paid'`,
    // Events that no call can dispatch again: a poll, a refund or an operator caused them.
    sql`alter table billing.deliveries
      alter column event_id drop not null,
      alter column listener drop not null,
      add column dedup_key text unique,
      add column event_type text,
      add column payment_id uuid references billing.payments (id),
      add column payment_method_id uuid references billing.payment_methods (id),
      add column cause text check (cause in ('call', 'poll', 'refund', 'operator')),
      add constraint deliveries_kind check ((event_id is null) = (dedup_key is not null)
        and (event_id is null) = (listener is null) and (dedup_key is null) = (event_type is null)
        and (dedup_key is null) = (cause is null))`,
    sql`create index deliveries_payment on billing.deliveries (payment_id)
      where payment_id is not null`,
    // The existing rows satisfy it: no table of claims is scanned while it is locked.
    sql`alter table billing.events
      drop constraint events_source_check,
      add constraint events_source_check
        check (source in ('call', 'poll', 'refund', 'operator', 'browser')) not valid`,
  ])
}
