import { sql, type Kysely, type Selectable } from 'kysely'
import type { Delivery, EventRecord } from '../events/event-record.ts'
import { pageLimit, readCursor, toPage, type Page, type PageQuery } from './page.ts'
import { withRefunds } from './refunds.ts'
import type { EventsTable, Tables } from './tables.ts'

/** Which events to list; all of them if left out. */
export interface EventsQuery extends PageQuery {
  /** Events of this payment and of its refunds. */
  readonly paymentId?: string
  /** Events of this subscription. */
  readonly subscriptionId?: string
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
  const limit = pageLimit(query)
  const after = readCursor(query.cursor)
  let select = selectEvents(db)
  if (query.paymentId !== undefined) {
    select = select
      .where(sql<boolean>`payment_id = any(${withRefunds(query.paymentId)})`)
      .orderBy('created_at', 'desc')
  }
  select = select.orderBy('id', 'desc').limit(limit + 1)
  if (query.subscriptionId !== undefined) {
    select = select.where('subscription_id', '=', query.subscriptionId)
  }
  if (query.type !== undefined) select = select.where('type', 'in', [query.type].flat())
  if (after !== undefined) {
    select = select.where(
      query.paymentId === undefined
        ? sql<boolean>`id < ${after.id}::uuid`
        : sql<boolean>`(created_at, id) < (${after.at}, ${after.id}::uuid)`,
    )
  }
  const rows = await select.execute()
  return toPage(rows.map(toEventRecord), limit, (event) => ({ at: event.createdAt, id: event.id }))
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
