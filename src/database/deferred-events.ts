import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { DeferredEvent } from '../events/event-record.ts'
import { withRefunds } from './refunds.ts'
import type { Tables } from './tables.ts'

/** The deferred events of a payment and its refunds, oldest first. */
export function listDeferredEvents(
  db: Kysely<Tables>,
  paymentId: string,
): Promise<readonly DeferredEvent[]> {
  return select(db, sql`delivery.payment_id = any(${withRefunds(paymentId)})`)
}

/** Those that come from a call that moved the payment, or a refund. */
export function listDeferredEventsOfCall(
  db: Kysely<Tables>,
  call: { readonly id: string; readonly paymentId: string | null },
): Promise<readonly DeferredEvent[]> {
  const { id, paymentId } = call
  return select(
    db,
    sql`delivery.payment_id = any(${withRefunds(paymentId)}) and moved.webhook_call_id = ${id}::uuid`,
  )
}

async function select(
  db: Kysely<Tables>,
  which: RawBuilder<unknown>,
): Promise<readonly DeferredEvent[]> {
  const { rows } = await sql<DeferredEvent>`
    select delivery.id, delivery.dedup_key as "dedupKey", delivery.event_type as type,
      delivery.payment_id as "paymentId", delivery.payment_method_id as "paymentMethodId",
      moved.webhook_call_id as "webhookCallId", delivery.cause as source, delivery.state,
      delivery.attempts,
      case when delivery.state <> 'failed' then delivery.next_attempt_at end as "nextAttemptAt",
      delivery.exception, delivery.created_at as "createdAt"
    from billing.deliveries as delivery
    left join lateral (
      select webhook_call_id from billing.payment_transitions as transition
      where transition.payment_id = delivery.payment_id
        and transition.to_status = split_part(delivery.dedup_key, ':', 2)
      order by transition.id desc limit 1
    ) as moved on true
    where delivery.dedup_key is not null and delivery.state <> 'processed' and ${which}
    order by delivery.created_at, delivery.id`.execute(db)
  return rows
}
