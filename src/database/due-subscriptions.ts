import { sql, type Kysely, type RawBuilder } from 'kysely'
import { minutes, type Duration } from '../kernel/duration.ts'
import type { ManagedBy } from '../subscriptions/subscription.ts'
import { interval } from './interval.ts'
import { named } from './named-statements.ts'
import type { Tables } from './tables.ts'

/** A subscription that a process works on, and the token of its lease. */
export interface SubscriptionLease {
  readonly id: string
  readonly token: string
  readonly gateway: string
}

/**
 * It ends by itself, so a worker that dies stops no subscription. The answer of a provider, and the
 * listeners of what it says, take less.
 */
const leaseLength: Duration = minutes(2)

/**
 * What is taken first of those that are due:
 * - `longest`: what has been due for longest;
 * - `wanted`: what has changed at its provider last;
 * - `awaited`: what waits for a payment and became due last: its customer may be without access.
 */
export type DueOrder = 'longest' | 'wanted' | 'awaited'

interface DueSubscriptions {
  /** `longest` by default. */
  readonly order?: DueOrder
  /** `local`: a step is due; `provider`: its provider is to be asked. */
  readonly managedBy: ManagedBy
  /** The time that subscriptions live by. */
  readonly now: Date
  /** The time of this process. */
  readonly ours: Date
  readonly limit: number
  readonly token: string
  /** Gateways whose subscriptions are left for later. */
  readonly except: readonly string[]
}

/** Two clocks that differ by more make us ask which of them is right before we do anything. */
export const clocksApart: Duration = minutes(5)

const orders: Readonly<Record<DueOrder, RawBuilder<unknown>>> = {
  longest: sql`order by next_action_at`,
  wanted: sql`and sync_wanted_at is not null order by sync_wanted_at desc`,
  awaited: sql`and status in ('incomplete', 'past_due') order by next_action_at desc`,
}

/**
 * Takes what is due, in an order; what others hold is skipped. The lease saves work: what is
 * charged at most once does not depend on it. Nothing is taken while our clock and the database's
 * differ: by a clock that is ahead too much is due, and what is planned by it sleeps for as long once
 * it is set right. Taking the lease clears `sync_wanted_at`: a notice that arrives during the lease
 * sets it again, and the provider is asked once more. The CTE is materialized: otherwise a plan may run
 * it for each row of the table, and lease more rows than the limit.
 */
export async function takeDueSubscriptions(
  db: Kysely<Tables>,
  { order = 'longest', managedBy, now, ours, limit, token, except }: DueSubscriptions,
): Promise<readonly SubscriptionLease[]> {
  const { rows } = await sql<SubscriptionLease>`${named(`take-due-subscriptions-${order}`)}
    with due as materialized (
      select id from billing.subscriptions
      where managed_by = ${managedBy} and next_action_at <= ${now}
        and (lease_until is null or lease_until < statement_timestamp())
        and gateway <> all(${[...except]}::text[])
        and statement_timestamp() between ${ours}::timestamptz - ${interval(clocksApart)}
          and ${ours}::timestamptz + ${interval(clocksApart)}
      ${orders[order]} limit ${limit} for no key update skip locked
    )
    update billing.subscriptions as taken
    set lease_token = ${token}::uuid, lease_until = statement_timestamp() + ${interval(leaseLength)},
      sync_wanted_at = null
    from due where taken.id = due.id
    returning taken.id, taken.lease_token as token, taken.gateway`.execute(db)
  return rows
}

/** Gives a subscription back whose step has failed: it is due again, but not at once. */
export async function postponeSubscription(
  db: Kysely<Tables>,
  { id, token }: SubscriptionLease,
  until: Date,
): Promise<void> {
  await sql`
    update billing.subscriptions
    set next_action_at = ${until}, lease_token = null, lease_until = null
    where id = ${id}::uuid and lease_token = ${token}::uuid`.execute(db)
}

/** Makes it due now: something about it can only be seen by looking again. */
export async function wakeSubscriptionOf(
  db: Kysely<Tables>,
  periodId: string,
  now: Date,
): Promise<void> {
  await sql`
    update billing.subscriptions set next_action_at = least(next_action_at, ${now}::timestamptz)
    where ended_at is null and managed_by = 'local' and id = (
      select subscription_id from billing.subscription_periods where id = ${periodId}::uuid)`.execute(
    db,
  )
}

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
