import { sql, type Kysely, type Selectable } from 'kysely'
import type { EventForward, EventForwardAttempt } from '../events/endpoint.ts'
import { eventFilters, type Delivery, type EventRecord } from '../events/event-record.ts'
import type { FailedAttempt } from '../events/failed-attempt.ts'
import type { FilterValues } from '../kernel/noun.ts'
import { readUuid } from '../kernel/uuid.ts'
import { conditionsOf } from './conditions.ts'
import { newestOf, toPage, type Page, type PageQuery } from './page.ts'
import { withRefunds } from './refunds.ts'
import type { EventsTable, Tables } from './tables.ts'

/** Which events to list; all of them if left out. */
export interface EventsQuery extends PageQuery, FilterValues<typeof eventFilters> {
  /** One type, or one of several. */
  readonly type?: string | readonly string[]
}

type EventRow = Selectable<EventsTable> & { readonly deliveries: string }

function selectEvents(db: Kysely<Tables>) {
  return db
    .selectFrom('billing.events as event')
    .selectAll('event')
    .select(
      sql<string>`coalesce((
        select json_agg(json_build_object('listener', listener, 'state', state,
          'attempts', attempts, 'exception', exception) order by listener)
        from billing.deliveries where event_id = event.id
      ), '[]')`.as('deliveries'),
    )
}

/**
 * By id, which begins with the time: of a deferred event, with that of its deferral. Those of one
 * payment are few, and come in the order in which they were dispatched.
 */
export async function listEvents(
  db: Kysely<Tables>,
  query: EventsQuery,
): Promise<Page<EventRecord>> {
  const conditions = conditionsOf(eventFilters, query, {
    paymentId: (id) => sql`payment_id = any(${withRefunds(readUuid(id) ?? null)})`,
  })
  const time = query.paymentId === undefined ? undefined : 'created_at'
  let select = selectEvents(db)
    .where((is) => is.and([...conditions]))
    .$call(newestOf(query, 'id', time))
  if (query.type !== undefined) {
    select = select.where(sql<boolean>`type = any(${[query.type].flat()}::text[])`)
  }
  const rows = await select.execute()
  return toPage(rows.map(toEventRecord), query, (event) => ({ at: event.createdAt, id: event.id }))
}

/** Undefined for an id that no event has. */
export async function findEvent(db: Kysely<Tables>, id: string): Promise<EventRecord | undefined> {
  const row = await selectEvents(db).where('id', '=', id).executeTakeFirst()
  return row && toEventRecord(row)
}

function toEventRecord(row: EventRow): EventRecord {
  return {
    id: row.id,
    dedupKey: row.dedup_key,
    type: row.type,
    paymentId: row.payment_id,
    paymentMethodId: row.payment_method_id,
    subscriptionId: row.subscription_id,
    invoiceId: row.invoice_id,
    webhookCallId: row.webhook_call_id,
    source: row.source,
    superseded: row.superseded,
    data: JSON.parse(row.data) as Record<string, unknown>,
    createdAt: row.created_at,
    position: row.position === null ? null : Number(row.position),
    deliveries: JSON.parse(row.deliveries) as Delivery[],
  }
}

/** Of each list; an event that is sent again and again has more, and the last ones say why. */
const mostShown = 100

/**
 * The attempts at its deliveries to queued listeners, and at its own dispatch where it was deferred,
 * that have failed; oldest first.
 */
export async function listEventFailures(
  db: Kysely<Tables>,
  eventId: string,
): Promise<readonly FailedAttempt[]> {
  const deliveries = await db
    .selectFrom('billing.deliveries')
    .select('id')
    .where('event_id', '=', eventId)
    .execute()
  // A deferred event has had the id of the event that it has become.
  const ids = [eventId, ...deliveries.map(({ id }) => id)]
  const { rows } = await sql<FailedAttempt>`
    select attempt, listener, exception, created_at as at from billing.failed_attempts
    where delivery_id = any(${ids}::uuid[]) order by id desc limit ${mostShown}`.execute(db)
  return rows.toReversed()
}

/** How it stands at endpoints where it did not go at first, or was sent again; by their names. */
export async function listForwardsOf(
  db: Kysely<Tables>,
  eventId: string,
): Promise<readonly EventForward[]> {
  const { rows } = await sql<EventForward>`
    select endpoint.name as endpoint, forward.event_id as "eventId",
      forward.position::float8 as position, forward.state,
      forward.cause, forward.attempts, forward.next_attempt_at as "nextAttemptAt"
    from billing.endpoints as endpoint
    join billing.forwards as forward
      on forward.endpoint_id = endpoint.id and forward.event_id = ${eventId}::uuid
    order by endpoint.name limit ${mostShown}`.execute(db)
  return rows
}

/** The requests by which it was sent, newest first. */
export async function listAttemptsOf(
  db: Kysely<Tables>,
  eventId: string,
): Promise<readonly EventForwardAttempt[]> {
  const { rows } = await sql<EventForwardAttempt>`
    select endpoint.name as endpoint, attempt.id, attempt.event_id as "eventId", attempt.attempt,
      attempt.at, attempt.result, attempt.status, attempt.duration_ms as "durationMs",
      attempt.response
    from billing.forward_attempts as attempt
    left join billing.endpoints as endpoint on endpoint.id = attempt.endpoint_id
    where attempt.event_id = ${eventId}::uuid
    order by attempt.id desc limit ${mostShown}`.execute(db)
  return rows
}
