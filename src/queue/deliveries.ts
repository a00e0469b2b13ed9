import { sql, type Selectable } from 'kysely'
import type { DeliveriesTable } from '../database/tables.ts'
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
    | 'cause'
    | 'queue'
  >

/** What is due to queued listeners, and deferred events. */
export const deliveries: LeasedTable<LeasedDelivery> = {
  name: 'billing.deliveries',
  columns: sql`row.event_id, row.listener, row.dedup_key, row.event_type, row.payment_id,
    row.payment_method_id, row.cause, row.queue`,
  cameAt: 'created_at',
  isReviewed: false,
}
