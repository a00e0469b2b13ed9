import { sql, type Kysely } from 'kysely'
import { dedupKey } from '../events/catalogue.ts'
import type { ManagedFacts } from '../subscriptions/change.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { subscriptionColumns, toSubscription, type SubscriptionRow } from './subscriptions.ts'
import type { Tables } from './tables.ts'

/** What is known of one besides its row and its periods. */
export async function readManagedFacts(
  db: Kysely<Tables>,
  id: string,
): Promise<Omit<ManagedFacts, 'periods'>> {
  const { rows } = await sql<{ by: 'payment' | 'provider' | null }>`
    select terms_by as by from billing.subscriptions where id = ${id}::uuid`.execute(db)
  const key = dedupKey('SubscriptionCreated', { subscription: id })
  const { rows: fired } = await sql`
    select from billing.deferred_events where dedup_key = ${key}
    union all select from billing.events where dedup_key = ${key} limit 1`.execute(db)
  return { termsBy: rows[0]?.by ?? 'us', isAnnounced: fired.length > 0 }
}

/** A subscription as its provider names it. */
export interface ManagedName {
  readonly gateway: string
  readonly reference: string
}

/** Those that have these names, of whatever account. */
export async function findManaged(
  db: Kysely<Tables>,
  names: readonly ManagedName[],
): Promise<readonly Subscription[]> {
  if (names.length === 0) return []
  const { rows } = await sql<SubscriptionRow>`
    select ${subscriptionColumns} from billing.subscriptions
    where provider_reference = any(${names.map(({ reference }) => reference)}::text[])
      and gateway = any(${names.map(({ gateway }) => gateway)}::text[])
      and managed_by = 'provider'`.execute(db)
  return rows.map(toSubscription)
}

/** Those whose periods these are, by the id of the period. */
export async function findManagedOfPeriods(
  db: Kysely<Tables>,
  periodIds: readonly string[],
): Promise<ReadonlyMap<string, Subscription>> {
  if (periodIds.length === 0) return new Map()
  const { rows: periods } = await sql<{ id: string; of: string }>`
    select id, subscription_id as of from billing.subscription_periods
    where id = any(${[...periodIds]}::uuid[])`.execute(db)
  const { rows } = await sql<SubscriptionRow>`
    select ${subscriptionColumns} from billing.subscriptions
    where id = any(${periods.map(({ of }) => of)}::uuid[]) and managed_by = 'provider'`.execute(db)
  const found = new Map(rows.map((row) => [row.id, toSubscription(row)]))
  return new Map(
    periods.flatMap(({ id, of }) => {
      const subscription = found.get(of)
      return subscription === undefined ? [] : [[id, subscription] as const]
    }),
  )
}

/** Set once: the provider has begun the subscription that was made here. Its row is locked. */
export async function linkSubscription(
  db: Kysely<Tables>,
  id: string,
  reference: string,
): Promise<void> {
  await sql`
    update billing.subscriptions set provider_reference = ${reference}
    where id = ${id}::uuid and provider_reference is null`.execute(db)
}

/** They have changed at their provider: it is asked now, also if somebody is asking. Rows are locked. */
export async function requestSyncs(
  db: Kysely<Tables>,
  ids: readonly string[],
  now: Date,
): Promise<void> {
  if (ids.length === 0) return
  await sql`
    update billing.subscriptions
    set sync_wanted_at = statement_timestamp(),
      next_action_at = least(next_action_at, ${now}::timestamptz)
    where id = any(${[...ids]}::uuid[]) and ended_at is null and managed_by = 'provider'`.execute(
    db,
  )
}

/** The first statement was believed: from now on its provider says what it is sold for. */
export async function believeTerms(db: Kysely<Tables>, id: string): Promise<void> {
  await sql`
    update billing.subscriptions set terms_by = 'provider'
    where id = ${id}::uuid and terms_by = 'payment'`.execute(db)
}

/**
 * Links one that was made here and is not linked yet, where a payment of it was paid and says what it
 * began: a renewal may have been the first to say so.
 */
export async function linkByPayment(db: Kysely<Tables>, id: string): Promise<void> {
  const { rows } = await sql<{ period: string }>`
    select period.id as period from billing.subscriptions as unlinked
    join billing.subscription_periods as period on period.subscription_id = unlinked.id
    where unlinked.id = ${id}::uuid and unlinked.provider_reference is null`.execute(db)
  if (rows.length === 0) return
  const { rows: begun } = await sql<{ reference: string; gateway: string }>`
    select subscription_reference as reference, gateway from billing.payments
    where period_id = any(${rows.map(({ period }) => period)}::uuid[]) and status = 'paid'
      and subscription_reference is not null order by id limit 1`.execute(db)
  const [first] = begun
  if (first === undefined || (await findManaged(db, [first])).length > 0) return
  await linkSubscription(db, id, first.reference)
}
