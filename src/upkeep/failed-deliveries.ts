import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { RunEstimate } from '../database/runs.ts'
import type { Tables } from '../database/tables.ts'
import { asNew } from '../leases/queue-rows.ts'
import type { RunFilter } from '../wire/run.ts'
import { mostCounted, saysFirst, type FailedPage, type FailedRow } from './failed-rows.ts'
import { isAbout } from './replay-failed.ts'

/** A deferred event has no listener of its own: whose exception it ended with has failed it. */
function deliveryMatches(filter: RunFilter): RawBuilder<boolean> {
  const { gateway, kind, listener, exception, since, until } = filter
  const said = sql.ref('delivery.exception')
  const failedBy = sql`coalesce(delivery.listener = ${listener}, exists (
    select from billing.failed_attempts as attempt
    where attempt.delivery_id = delivery.id and attempt.listener = ${listener}
      and attempt.exception = delivery.exception))`
  return sql`(true
    ${kind === null ? sql`` : sql`and (delivery.event_id is null) = ${kind === 'deferred_event'}`}
    ${since === null ? sql`` : sql`and delivery.created_at >= ${since}`}
    ${until === null ? sql`` : sql`and delivery.created_at < ${until}`}
    ${exception === null ? sql`` : sql`and ${saysFirst(said, exception)}`}
    ${listener === null ? sql`` : sql`and ${failedBy}`}
    ${gateway === null ? sql`` : sql`and ${isAbout(gateway)}`})`
}

export async function countFailedDeliveries(
  db: Kysely<Tables>,
  filter: RunFilter,
): Promise<RunEstimate> {
  const { rows } = await sql<{ count: number; seen: number }>`
    select (count(*) filter (where matches))::int as count, count(*)::int as seen from (
      select ${deliveryMatches(filter)} is true as matches from billing.deliveries as delivery
      where state = 'failed' order by delivery.id limit ${mostCounted}
    ) as looked`.execute(db)
  const { count = 0, seen = 0 } = rows[0] ?? {}
  return { count, isLeast: seen === mostCounted }
}

/** The failed deliveries and deferred events after a place, also those that are not to be replayed. */
export async function nextFailedDeliveries(
  db: Kysely<Tables>,
  filter: RunFilter,
  { before, after, limit }: FailedPage,
): Promise<readonly FailedRow[]> {
  const { rows } = await sql<FailedRow>`
    select delivery.id, delivery.created_at as at,
      (${deliveryMatches(filter)} and delivery.processed_at <= ${before}) is true as matches
    from billing.deliveries as delivery
    where state = 'failed' ${after === undefined ? sql`` : sql`and delivery.id > ${after.id}::uuid`}
    order by delivery.id limit ${limit}`.execute(db)
  return rows
}

/** A subscription has few events, and fewer that have failed. */
const mostSiblings = 1_000

/**
 * Those that are still as they were, and all that match of their subscriptions: events of one are
 * dispatched in their order, which ids of several processes may not be in. What another process holds
 * is waited for: if it were skipped, those behind it could come first. Returns them.
 */
export async function requeueFailedDeliveries(
  db: Kysely<Tables>,
  ids: readonly string[],
  { filter, before }: { readonly filter: RunFilter; readonly before: Date },
): Promise<readonly string[]> {
  // One subscription after the other: all that has failed would be read to join it.
  const siblings = await sql<{ id: string }>`
    select sibling.id from (
      select distinct subscription_id as id from billing.deliveries
      where id = any(${[...ids]}::uuid[]) and subscription_id is not null
    ) as own cross join lateral (
      select delivery.id, delivery.subscription_id, delivery.event_number
      from billing.deliveries as delivery
      where delivery.subscription_id = own.id and delivery.state = 'failed'
        and ${deliveryMatches(filter)}
      order by delivery.subscription_id, delivery.event_number limit ${mostSiblings}
    ) as sibling
    order by sibling.subscription_id, sibling.event_number, sibling.id
    limit ${mostSiblings}`.execute(db)
  const all = new Set([...ids, ...siblings.rows.map(({ id }) => id)])
  const { rows } = await sql<{ id: string }>`
    update billing.deliveries set ${asNew}
    where id in (
      select id from billing.deliveries
      where id = any(${[...all]}::uuid[]) and state = 'failed' and processed_at <= ${before}
      order by subscription_id, event_number, id for update
    ) returning id`.execute(db)
  return rows.map(({ id }) => id)
}
