import { sql, type Selectable } from 'kysely'
import type { DeliveriesTable } from '../database/tables.ts'
import type { QueueRow, QueueTable } from '../leases/leased-table.ts'
import { queueLease } from '../leases/queue-rows.ts'

export type LeasedDelivery = QueueRow & Pick<Selectable<DeliveriesTable>, 'event_id' | 'listener'>

/** What is due to queued listeners. */
export const deliveries: QueueTable<LeasedDelivery> = {
  name: 'billing.deliveries',
  length: queueLease,
  columns: sql`row.event_id, row.listener`,
  cameAt: 'created_at',
  isReviewed: false,
}
