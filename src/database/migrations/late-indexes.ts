/** An index of a table that has been filling for a long time when the index is added. */
export interface LateIndex {
  readonly name: string
  /** Table, columns and condition, as written after `on`. */
  readonly on: string
}

/**
 * They are built after the migrations and outside their transaction, which would otherwise block
 * all writes for that long. Nothing but speed may depend on them: none is unique.
 */
export const lateIndexes: readonly LateIndex[] = [
  {
    // Not unique either for another reason: a paid payment is never refused for its subscription.
    name: 'payments_subscription_reference',
    on: `billing.payments (gateway, subscription_reference)
      where subscription_reference is not null`,
  },
  {
    name: 'webhook_calls_awaiting_also',
    on: `billing.webhook_calls (awaiting_also) where awaiting_also is not null`,
  },
  {
    // Few rows, looked for every few seconds.
    name: 'webhook_calls_alone',
    on: `billing.webhook_calls (next_attempt_at) where state = 'pending' and leases_lost > 0`,
  },
  {
    name: 'deliveries_alone',
    on: `billing.deliveries (next_attempt_at) where state = 'pending' and leases_lost > 0`,
  },
  { name: 'disputes_updated', on: `billing.disputes (updated_at)` },
  {
    name: 'payments_period',
    on: `billing.payments (period_id, id) where period_id is not null`,
  },
  {
    // None at all, unless a process that knows of no periods has moved a payment of one.
    name: 'payments_untaken',
    on: `billing.payments (id) where period_id is not null and status <> 'pending'
      and taken_status is distinct from status`,
  },
  {
    name: 'events_subscription',
    on: `billing.events (subscription_id, id) where subscription_id is not null`,
  },
  {
    // Events of a subscription are dispatched in their order.
    name: 'deliveries_subscription',
    on: `billing.deliveries (subscription_id, event_number)
      where subscription_id is not null and state <> 'processed'`,
  },
  {
    name: 'deliveries_waiting',
    on: `billing.deliveries (next_attempt_at, id) where state = 'waiting'`,
  },
  {
    name: 'deliveries_held',
    on: `billing.deliveries (lease_until) where state = 'held'`,
  },
  {
    name: 'deliveries_call',
    on: `billing.deliveries (webhook_call_id)
      where webhook_call_id is not null and state <> 'processed'`,
  },
  {
    // Subscriptions that providers manage; of most merchants none.
    name: 'subscriptions_sync',
    on: `billing.subscriptions (sync_at) where sync_at is not null`,
  },
  {
    // That a document is issued is dispatched before that it is paid.
    name: 'deliveries_invoice',
    on: `billing.deliveries (invoice_id)
      where invoice_id is not null and state <> 'processed'`,
  },
  {
    // Whoever holds the row of the feed gives positions: none is given twice.
    name: 'events_position',
    on: `billing.events (position) where position is not null`,
  },
  {
    // A few at most: monitoring counts them, and a page lists them.
    name: 'deliveries_failed',
    on: `billing.deliveries (id) where state in ('failed', 'given_up')`,
  },
  {
    name: 'payments_unknown',
    on: `billing.payments (created_at) where checkout = 'unknown' and status = 'pending'`,
  },
  {
    name: 'refunds_pending',
    on: `billing.payments (created_at, id) where type = 'refund' and status = 'pending'`,
  },
  {
    name: 'disputes_open',
    on: `billing.disputes (created_at, id) where status = 'open'`,
  },
  {
    name: 'forwards_failed',
    on: `billing.forwards (updated_at, endpoint_id, event_id) where state = 'failed'`,
  },
  {
    name: 'events_unnumbered',
    on: `billing.events (created_at, id) where position is null`,
  },
]
