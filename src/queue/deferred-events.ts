import { sql, type Selectable } from 'kysely'
import type { DeferredEventsTable } from '../database/tables.ts'
import { catalogue, eventTypes } from '../events/catalogue.ts'
import type { QueueRow, QueueTable } from '../leases/leased-table.ts'
import { queueLease } from '../leases/queue-rows.ts'

export type LeasedEvent = QueueRow &
  Pick<
    Selectable<DeferredEventsTable>,
    | 'dedup_key'
    | 'type'
    | 'queue'
    | 'outbox'
    | 'payment_id'
    | 'payment_method_id'
    | 'subscription_id'
    | 'invoice_id'
    | 'data'
    | 'webhook_call_id'
    | 'cause'
  >

/** What fires events that are written with the change that they tell of. */
const outboxProducers = new Set<string>(['a subscription', 'a document', 'an endpoint'])

const typesOf = (isOutbox: boolean) =>
  sql.join(
    eventTypes
      .filter((type) => outboxProducers.has(catalogue[type].firedBy) === isOutbox)
      .map((type) => sql.lit(type)),
  )

/**
 * Events of payments and cards that their report did not dispatch. Event types that a newer version
 * has added wait for a process of that version.
 */
export const deferredEvents: QueueTable<LeasedEvent> = {
  name: 'billing.deferred_events',
  length: queueLease,
  columns: sql`row.dedup_key, row.type, row.queue, row.outbox, row.payment_id,
    row.payment_method_id, row.subscription_id, row.invoice_id, row.data, row.webhook_call_id,
    row.cause`,
  kind: sql`not outbox`,
  isNext: sql`type in (${typesOf(false)})`,
  cameAt: 'created_at',
  isReviewed: false,
}

/**
 * Deferred events of subscriptions, documents and endpoints, in the same table. They are written with
 * the change that they tell of, so they are many where the others are few: each kind is taken apart,
 * and neither waits behind the other.
 *
 * Events of a subscription are taken in the order of their numbers: an event waits while an earlier
 * one waits or is held. The numbers are given under the subscription's lock, so a process that sees
 * an event sees all earlier ones. An ended event returns only if a person replays it.
 *
 * Events of a quota are numbered by its counter, the only lock that recording takes, so they are in
 * order among themselves. Events of an invoice have no numbers and no order among the events of its
 * subscription; that it is issued comes before that it is paid.
 */
export const outboxEvents: QueueTable<LeasedEvent> = {
  ...deferredEvents,
  kind: sql`outbox`,
  isNext: sql`type in (${typesOf(true)})
    and not exists (
      select from billing.deferred_events as earlier
      where earlier.subscription_id = due.subscription_id
        and (earlier.event_number < due.event_number
          or (earlier.quota = due.quota and earlier.quota_event < due.quota_event))
        and earlier.state in ('pending', 'processing')
      offset 0)
    and (type <> 'InvoicePaid' or not exists (
      select from billing.deferred_events as issued
      where issued.invoice_id = due.invoice_id and issued.type = 'InvoiceIssued'
        and issued.state in ('pending', 'processing')
      offset 0))`,
}
