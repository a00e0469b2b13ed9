import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { asNew } from '../leases/queue-rows.ts'
import type { RunFilter } from '../wire/run.ts'
import { mostCounted, saysFirst, type FailedRow, type FailedRows } from './failed-rows.ts'

/** Deliveries or deferred events that have failed for good; a row of them is called `failed`. */
export interface FailedEvents {
  /** Their table, with its schema. */
  readonly name: string
  /** In which order they are replayed. */
  readonly order: RawBuilder<unknown>
  /** Whether the event is about a payment, a card or a subscription of this gateway. */
  isAbout(gateway: string): RawBuilder<unknown>
  failedBy(listener: string): RawBuilder<unknown>
}

export const failedDeliveries: FailedEvents = {
  name: 'billing.deliveries',
  order: sql`id`,
  isAbout: (gateway) =>
    isOf(
      gateway,
      (column) => sql`(select ${sql.ref(column)} from billing.events where id = failed.event_id)`,
    ),
  failedBy: (listener) => sql`failed.listener = ${listener}`,
}

/**
 * A deferred event has no listener of its own: whose exception it ended with has failed it. Events of
 * a subscription are dispatched in their order.
 */
export const failedDeferredEvents: FailedEvents = {
  name: 'billing.deferred_events',
  order: sql`subscription_id, event_number, id`,
  isAbout: (gateway) => isOf(gateway, (column) => sql`failed.${sql.ref(column)}`),
  failedBy: (listener) => sql`exists (
    select from billing.failed_attempts as attempt
    where attempt.delivery_id = failed.id and attempt.listener = ${listener}
      and attempt.exception = failed.exception)`,
}

function isOf(
  gateway: string,
  subject: (column: string) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`${gateway} in (
    select gateway from billing.payments where id = ${subject('payment_id')}
    union all select gateway from billing.payment_methods where id = ${subject('payment_method_id')}
    union all select gateway from billing.subscriptions where id = ${subject('subscription_id')})`
}

function matches(events: FailedEvents, filter: RunFilter): RawBuilder<boolean> {
  const { gateway, listener, exception, since, until } = filter
  return sql`(true
    ${since === null ? sql`` : sql`and failed.created_at >= ${since}`}
    ${until === null ? sql`` : sql`and failed.created_at < ${until}`}
    ${exception === null ? sql`` : sql`and ${saysFirst(sql.ref('failed.exception'), exception)}`}
    ${listener === null ? sql`` : sql`and ${events.failedBy(listener)}`}
    ${gateway === null ? sql`` : sql`and ${events.isAbout(gateway)}`})`
}

/** Deliveries, as a run replays them. */
export const deliveryRows: FailedRows = {
  ...readBy(failedDeliveries),
  requeue: (db, ids, { before }) => requeue(db, failedDeliveries, { ids, before }),
}

/** A subscription has few events, and fewer that have failed. */
const mostSiblings = 1_000

/**
 * Deferred events, as a run replays them: with all that match of their subscriptions, for ids of
 * several processes may not be in the order of the events.
 */
export const deferredEventRows: FailedRows = {
  ...readBy(failedDeferredEvents),
  async requeue(db, ids, { filter, before }) {
    // One subscription after the other: all that has failed would be read to join it.
    const siblings = await sql<{ id: string }>`
      select sibling.id from (
        select distinct subscription_id as id from billing.deferred_events
        where id = any(${[...ids]}::uuid[]) and subscription_id is not null
      ) as own cross join lateral (
        select failed.id, failed.subscription_id, failed.event_number
        from billing.deferred_events as failed
        where failed.subscription_id = own.id and failed.state = 'failed'
          and ${matches(failedDeferredEvents, filter)}
        order by failed.subscription_id, failed.event_number limit ${mostSiblings}
      ) as sibling
      order by sibling.subscription_id, sibling.event_number, sibling.id
      limit ${mostSiblings}`.execute(db)
    const all = new Set([...ids, ...siblings.rows.map(({ id }) => id)])
    return requeue(db, failedDeferredEvents, { ids: [...all], before })
  },
}

function readBy(events: FailedEvents): Pick<FailedRows, 'count' | 'next'> {
  const table = sql.table(events.name)
  return {
    async count(db, filter) {
      const { rows } = await sql<{ count: number; seen: number }>`
        select (count(*) filter (where matches))::int as count, count(*)::int as seen from (
          select ${matches(events, filter)} is true as matches from ${table} as failed
          where state = 'failed' order by failed.id limit ${mostCounted}
        ) as looked`.execute(db)
      const { count = 0, seen = 0 } = rows[0] ?? {}
      return { count, isLeast: seen === mostCounted }
    },
    async next(db, filter, { before, after, limit }) {
      const isBehind = after === undefined ? sql`` : sql`and failed.id > ${after.id}::uuid`
      const { rows } = await sql<FailedRow>`
        select failed.id, failed.created_at as at,
          (${matches(events, filter)} and failed.processed_at <= ${before}) is true as matches
        from ${table} as failed
        where state = 'failed' ${isBehind} order by failed.id limit ${limit}`.execute(db)
      return rows
    },
  }
}

/**
 * Those that are still as they were, in their order. What another process holds is waited for: if it
 * were skipped, those behind it could come first.
 */
async function requeue(
  db: Kysely<Tables>,
  { name, order }: FailedEvents,
  { ids, before }: { readonly ids: readonly string[]; readonly before: Date },
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    update ${sql.table(name)} set ${asNew}
    where id in (
      select id from ${sql.table(name)}
      where id = any(${[...ids]}::uuid[]) and state = 'failed' and processed_at <= ${before}
      order by ${order} for update
    ) returning id`.execute(db)
  return rows.map(({ id }) => id)
}
