import { sql, type Selectable } from 'kysely'
import type { WebhookCallsTable } from '../database/tables.ts'
import type { QueueRow, QueueTable } from '../leases/leased-table.ts'
import { queueLease } from '../leases/queue-rows.ts'

export type LeasedCall = QueueRow &
  Pick<
    Selectable<WebhookCallsTable>,
    'gateway' | 'queue' | 'kind' | 'payload' | 'body' | 'body_encrypted'
  > & {
    /** It was marked before; left out of a call that has just been stored. */
    readonly needs_review?: boolean
    /** It has never been finished before; the same. */
    readonly is_first?: boolean
  }

/** Stored callbacks. */
export const webhookCalls: QueueTable<LeasedCall> = {
  name: 'billing.webhook_calls',
  length: queueLease,
  // The bytes matter only if there is no text, or one that masks something; they may be large.
  columns: sql`row.gateway, row.queue, row.kind, row.payload, row.body_encrypted, row.needs_review,
    row.outcome is null as is_first,
    case when row.kind = 'unreadable' or row.body_encrypted then row.body end as body`,
  cameAt: 'received_at',
  isReviewed: true,
}
