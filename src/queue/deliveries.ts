import { sql, type Selectable } from 'kysely'
import { endpointEventType } from '../events/endpoint-event.ts'
import type { DeliveriesTable } from '../database/tables.ts'
import { invoiceEventTypes } from '../events/dedup-key.ts'
import { subscriptionEventTypes } from '../events/event-data.ts'
import type { LeasedRow, LeasedTable } from './leased-table.ts'

export type LeasedDelivery = LeasedRow &
  Pick<
    Selectable<DeliveriesTable>,
    | 'event_id'
    | 'listener'
    | 'dedup_key'
    | 'event_type'
    | 'payment_id'
    | 'payment_method_id'
    | 'subscription_id'
    | 'invoice_id'
    | 'data'
    | 'webhook_call_id'
    | 'cause'
    | 'queue'
    | 'outbox'
  >

/** What is due to queued listeners, and deferred events of payments and cards. */
export const deliveries: LeasedTable<LeasedDelivery> = {
  name: 'billing.deliveries',
  columns: sql`row.event_id, row.listener, row.dedup_key, row.event_type, row.payment_id,
    row.payment_method_id, row.subscription_id, row.invoice_id, row.data, row.webhook_call_id,
    row.cause, row.queue, row.outbox`,
  kind: sql`not outbox`,
  cameAt: 'created_at',
  isReviewed: false,
}

const types = [...subscriptionEventTypes, ...invoiceEventTypes, endpointEventType].map((type) =>
  sql.lit(type),
)

/**
 * Deferred events of subscriptions, documents and endpoints, in the same table. They are written with
 * the change that they tell of, so they are many where the others are few: each kind is taken apart,
 * and neither waits behind the other.
 *
 * Those of one subscription are taken in their order: one only when none before it waits or is held.
 * That stays so once it is: their numbers are given under the subscription's lock, so whoever sees
 * one sees all before it, and what has ended comes back only if a person replays it. Types that a
 * newer version has added are left to it.
 *
 * Those of a quota are numbered by its counter, whose lock is all that recording takes: they are in
 * order among themselves. Those of a document have no numbers, and no place among those of its
 * subscription: that it is issued comes before that it is paid.
 */
export const subscriptionEvents: LeasedTable<LeasedDelivery> = {
  ...deliveries,
  kind: sql`outbox`,
  isNext: sql`event_type in (${sql.join(types)})
    and not exists (
      select from billing.deliveries as earlier
      where earlier.subscription_id = due.subscription_id
        and (earlier.event_number < due.event_number
          or (earlier.quota = due.quota and earlier.quota_event < due.quota_event))
        and earlier.state in ('pending', 'processing')
      offset 0)
    and (event_type <> 'InvoicePaid' or not exists (
      select from billing.deliveries as issued
      where issued.invoice_id = due.invoice_id and issued.event_type = 'InvoiceIssued'
        and issued.state in ('pending', 'processing')
      offset 0))`,
}
