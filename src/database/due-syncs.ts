import { sql, type Kysely } from 'kysely'
import { minutes, type Duration } from '../kernel/duration.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { clocksApart, type DueSubscriptions } from './due-subscriptions.ts'
import { interval } from './interval.ts'
import { named } from './named-statements.ts'
import { subscriptionColumns, toSubscription, type SubscriptionRow } from './subscriptions.ts'
import type { Tables } from './tables.ts'

/** A subscription whose provider is being asked, and the token of whoever asks. */
export interface SyncLease {
  readonly id: string
  readonly token: string
  readonly gateway: string
}

/** It ends by itself. A provider's answer, and the listeners of what it says, take less. */
const leaseLength: Duration = minutes(2)

/**
 * Takes the subscriptions of which their providers are to be asked, in the manner of
 * `takeDueSubscriptions`. Whoever takes one takes its bell away: one that rings from now on is about
 * what the answer may not say yet.
 */
export async function takeDueSyncs(
  db: Kysely<Tables>,
  { now, ours, limit, token, except }: DueSubscriptions,
): Promise<readonly SyncLease[]> {
  const { rows } = await sql<SyncLease>`${named('take-due-syncs')}
    with due as materialized (
      select id from billing.subscriptions
      where sync_at <= ${now} and (sync_until is null or sync_until < statement_timestamp())
        and gateway <> all(${[...except]}::text[])
        and statement_timestamp() between ${ours}::timestamptz - ${interval(clocksApart)}
          and ${ours}::timestamptz + ${interval(clocksApart)}
      order by sync_at limit ${limit} for no key update skip locked
    )
    update billing.subscriptions as taken
    set sync_token = ${token}::uuid, sync_until = statement_timestamp() + ${interval(leaseLength)},
      sync_wanted_at = null
    from due where taken.id = due.id
    returning taken.id, taken.sync_token as token, taken.gateway`.execute(db)
  return rows
}

/** The same for one, due or not; undefined: another process has it. */
export async function takeSync(
  db: Kysely<Tables>,
  id: string,
  token: string,
): Promise<SyncLease | undefined> {
  const { rows } = await sql<SyncLease>`
    update billing.subscriptions
    set sync_token = ${token}::uuid, sync_until = statement_timestamp() + ${interval(leaseLength)},
      sync_wanted_at = null
    where id = ${id}::uuid and managed_by = 'provider'
      and (sync_until is null or sync_until < statement_timestamp())
    returning id, sync_token as token, gateway`.execute(db)
  return rows[0]
}

/** Locks it for whoever asks; undefined: the lease is another's by now. */
export async function lockSynced(
  db: Kysely<Tables>,
  { id, token }: Pick<SyncLease, 'id' | 'token'>,
): Promise<Subscription | undefined> {
  const { rows } = await sql<SubscriptionRow>`
    select ${subscriptionColumns} from billing.subscriptions
    where id = ${id}::uuid and sync_token = ${token}::uuid for no key update`.execute(db)
  const [row] = rows
  return row && toSubscription(row)
}

/**
 * Ends the lease, its row locked. If the bell rang since it began, the provider is asked again at
 * once (true). `isHeard`: it has answered.
 */
export async function endSync(
  db: Kysely<Tables>,
  { id, token }: Pick<SyncLease, 'id' | 'token'>,
  { now, isHeard }: { readonly now: Date; readonly isHeard: boolean },
): Promise<boolean> {
  const heard = isHeard ? sql`, synced_at = statement_timestamp()` : sql``
  const { rows } = await sql<{ rung: boolean }>`
    update billing.subscriptions set sync_token = null, sync_until = null ${heard}
    where id = ${id}::uuid and sync_token = ${token}::uuid
    returning sync_wanted_at is not null as rung`.execute(db)
  const isRung = rows[0]?.rung === true
  if (isRung) {
    await sql`
      update billing.subscriptions set sync_at = least(sync_at, ${now}::timestamptz)
      where id = ${id}::uuid and ended_at is null`.execute(db)
  }
  return isRung
}
