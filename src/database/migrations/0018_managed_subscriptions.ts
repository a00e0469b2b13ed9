import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * Subscriptions that their provider manages. Versions before this one may run beside it. They take
 * every row by `next_action_at`, know no step for such rows, and write `next_action_at = null` and
 * an end of the lease with everything that they write of a row: a grant, a postponement, a wish. So
 * that column stays null in these rows. What is planned for them, the time at which their provider is
 * asked next (`sync_at`), and the lease of whoever asks (`sync_token`, `sync_until`), have columns
 * that no statement of those versions names: none can take such a row for a sync, and none of what
 * they write can lose one or end its lease. If one of them wakes a row of a closed page
 * (`least(next_action_at, now)`), it takes the row once, changes nothing and puts it to sleep again.
 * The bell (`sync_wanted_at`) is taken away by whoever takes the lease, so one that rings later is
 * seen, whatever the clocks say.
 *
 * `terms_by`: null for one that was made here, for it has to be stated with our terms. The index of
 * what is due is one of the late ones.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`alter table billing.subscriptions
      add column sync_at timestamptz(3), add column sync_token uuid,
      add column sync_until timestamptz, add column terms_by text,
      add constraint subscriptions_sync_lease
        check ((sync_token is null) = (sync_until is null)) not valid,
      add constraint subscriptions_sync_managed
        check (sync_at is null or managed_by = 'provider') not valid,
      add constraint subscriptions_terms_by
        check (terms_by in ('payment', 'provider')) not valid`,
  ])
}
