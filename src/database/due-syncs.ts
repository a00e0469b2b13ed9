import { sql, type Kysely } from 'kysely'
import { leaseLength, type SubscriptionLease } from './due-subscriptions.ts'
import { interval } from './interval.ts'
import type { Tables } from './tables.ts'

/**
 * Takes one subscription whose provider is to be asked now, due or not, in the manner of
 * `takeDueSubscriptions`; undefined: another process has it.
 */
export async function takeSync(
  db: Kysely<Tables>,
  id: string,
  token: string,
): Promise<SubscriptionLease | undefined> {
  const { rows } = await sql<SubscriptionLease>`
    update billing.subscriptions
    set lease_token = ${token}::uuid, lease_until = statement_timestamp() + ${interval(leaseLength)},
      sync_wanted_at = null
    where id = ${id}::uuid and managed_by = 'provider'
      and (lease_until is null or lease_until < statement_timestamp())
    returning id, lease_token as token, gateway`.execute(db)
  return rows[0]
}

/**
 * Ends the lease, its row locked. If it has changed since it began, the provider is asked again at
 * once (true). `isHeard`: it has answered.
 */
export async function endSync(
  db: Kysely<Tables>,
  { id, token }: Pick<SubscriptionLease, 'id' | 'token'>,
  { now, isHeard }: { readonly now: Date; readonly isHeard: boolean },
): Promise<boolean> {
  const heard = isHeard ? sql`, synced_at = statement_timestamp()` : sql``
  const { rows } = await sql<{ wanted: boolean }>`
    update billing.subscriptions set lease_token = null, lease_until = null ${heard}
    where id = ${id}::uuid and lease_token = ${token}::uuid
    returning sync_wanted_at is not null as wanted`.execute(db)
  const isWanted = rows[0]?.wanted === true
  if (isWanted) {
    await sql`
      update billing.subscriptions set next_action_at = least(next_action_at, ${now}::timestamptz)
      where id = ${id}::uuid and ended_at is null`.execute(db)
  }
  return isWanted
}
