import { sql, type Kysely, type RawBuilder } from 'kysely'
import { interval } from '../database/interval.ts'
import type { Tables } from '../database/tables.ts'
import { minutes, type Duration } from '../kernel/duration.ts'
import type { Lease, TimedTable } from '../leases/leased-table.ts'
import { endLeases, takeDue, type Take } from '../leases/leases.ts'
import type { ManagedBy } from '../subscriptions/subscription.ts'

/** A subscription that a process works on. */
export interface SubscriptionLease extends Lease {
  readonly gateway: string
}

/**
 * What is taken first of those that are due:
 * - `longest`: what has been due for longest;
 * - `wanted`: what has changed at its provider last;
 * - `awaited`: what waits for a payment and became due last: its customer may be without access.
 */
export type DueOrder = 'longest' | 'wanted' | 'awaited'

interface DueSubscriptions extends Take {
  /** `longest` by default. */
  readonly order?: DueOrder
  /** `local`: a step is due; `provider`: its provider is to be asked. */
  readonly managedBy: ManagedBy
  /** The time that subscriptions live by. */
  readonly now: Date
  /** The time of this process. */
  readonly ours: Date
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
 * The lease saves work: what is charged at most once does not depend on it. It is longer than the
 * answer of a provider, and the listeners of what it says, take. Taking it clears `sync_wanted_at`: a
 * notice that arrives during the lease sets it again, and the provider is asked once more.
 */
const leased = {
  name: 'billing.subscriptions',
  length: minutes(2),
  columns: sql<{ gateway: string }>`row.gateway`,
  taking: sql`sync_wanted_at = null`,
} as const

/**
 * Nothing is due while our clock and the database's differ: by a clock that is ahead too much is due,
 * and what is planned by it sleeps for as long once it is set right.
 */
const dueSubscriptions: TimedTable<SubscriptionLease, DueSubscriptions> = {
  ...leased,
  due: ({ managedBy, now, ours, except, order = 'longest' }) => sql`
    managed_by = ${managedBy} and next_action_at <= ${now} and gateway <> all(${[...except]}::text[])
    and statement_timestamp() between ${ours}::timestamptz - ${interval(clocksApart)}
      and ${ours}::timestamptz + ${interval(clocksApart)}
    ${orders[order]}`,
  prepared: ({ order = 'longest' }) => `due-subscriptions-${order}`,
}

/** One whose provider is to be asked now, due or not. */
const askedNow: TimedTable<SubscriptionLease, string> = {
  ...leased,
  due: (id) => sql`id = ${id}::uuid and managed_by = 'provider'`,
}

/** Takes what is due, in an order; what others hold is skipped. */
export function takeDueSubscriptions(
  db: Kysely<Tables>,
  asked: DueSubscriptions,
): Promise<readonly SubscriptionLease[]> {
  return takeDue(db, dueSubscriptions, { asked, limit: asked.limit, token: asked.token })
}

/** Gives a subscription back whose step has failed: it is due again, but not at once. */
export async function postponeSubscription(
  db: Kysely<Tables>,
  lease: SubscriptionLease,
  until: Date,
): Promise<void> {
  await endLeases(db, leased, { leases: [lease], set: sql`next_action_at = ${until}` })
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

/** Takes one subscription whose provider is to be asked now; undefined: another process has it. */
export async function takeSync(
  db: Kysely<Tables>,
  id: string,
  token: string,
): Promise<SubscriptionLease | undefined> {
  return (await takeDue(db, askedNow, { asked: id, limit: 1, token }))[0]
}

/**
 * Ends the lease, its row locked. If it has changed since it began, the provider is asked again at
 * once (true). `isHeard`: it has answered.
 */
export async function endSync(
  db: Kysely<Tables>,
  lease: Lease,
  { now, isHeard }: { readonly now: Date; readonly isHeard: boolean },
): Promise<boolean> {
  const [ended] = await endLeases<{ wanted: boolean }>(db, leased, {
    leases: [lease],
    ...(isHeard && { set: sql`synced_at = statement_timestamp()` }),
    returning: sql`row.sync_wanted_at is not null as wanted`,
  })
  const isWanted = ended?.wanted === true
  if (isWanted) {
    await sql`
      update billing.subscriptions set next_action_at = least(next_action_at, ${now}::timestamptz)
      where id = ${lease.id}::uuid and ended_at is null`.execute(db)
  }
  return isWanted
}
