import { sql, type Kysely, type RawBuilder } from 'kysely'
import { dedupKey, type EventType, type TypesWith } from '../events/catalogue.ts'
import type { Endpoint } from '../events/endpoint.ts'
import { endpointDisabled } from '../events/endpoint-event.ts'
import { writeEventData, type StoredData } from '../events/event-data.ts'
import type { DeferredEvent } from '../events/event-record.ts'
import type { Duration } from '../kernel/duration.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Cause } from '../payments/payment.ts'
import type { SubscriptionEvent } from '../subscriptions/change.ts'
import type { FiredQuotaEvent } from '../subscriptions/quota-events.ts'
import { interval } from './interval.ts'
import { withRefunds } from './refunds.ts'
import type { Tables } from './tables.ts'

/** A deferred event to be written. */
export interface NewDeferredEvent {
  /** The id that the event will have. */
  readonly id: string
  readonly dedupKey: string
  readonly type: EventType
  readonly paymentId: string | null
  readonly paymentMethodId: string | null
  readonly cause: Cause
  readonly queue: string
  /** Attempts that have failed so far. */
  readonly attempts: number
  readonly after: Duration
  readonly exception: string | null
  /** What it stores. */
  readonly data?: StoredData | undefined
  /** Of an event of a subscription. */
  readonly ofSubscription?: {
    readonly id: string
    /** They are dispatched in this order; null: one of a quota. */
    readonly eventNumber: number | null
    /** Those of a quota are dispatched in its order. */
    readonly quota?: { readonly name: string; readonly eventNumber: bigint }
    /** The call that is being applied: the event is shown as its claim. */
    readonly callId: string | null
  }
  /** Of an event of a document, which is of a subscription or of none. */
  readonly ofInvoice?: {
    readonly id: string
    readonly subscriptionId: string | null
    readonly callId: string | null
  }
}

/**
 * Writes deferred events. One that waits already stays as it is, and so does one of the outbox in
 * every state: its key fires once for ever. Another event may be deferred again once it has been
 * processed: it was out of date then.
 */
export async function insertDeferredEvents(
  db: Kysely<Tables>,
  events: readonly NewDeferredEvent[],
): Promise<void> {
  for (let from = 0; from < events.length; from += mostRows) {
    await insertRows(db, events.slice(from, from + mostRows))
  }
}

/** A statement has 65,535 parameters at most, and a flush of usage may fire thousands of events. */
const mostRows = 1000

async function insertRows(db: Kysely<Tables>, events: readonly NewDeferredEvent[]): Promise<void> {
  await db
    .insertInto('billing.deferred_events')
    .values(events.map(toRow))
    .onConflict((conflict) =>
      conflict
        .column('dedup_key')
        .doUpdateSet((excluded) => ({
          state: 'pending',
          cause: excluded.ref('excluded.cause'),
          created_at: excluded.ref('excluded.created_at'),
          leases_lost: 0,
          times_returned: 0,
          attempts: excluded.ref('excluded.attempts'),
          exception: excluded.ref('excluded.exception'),
          next_attempt_at: excluded.ref('excluded.next_attempt_at'),
          processed_at: null,
        }))
        .where(sql<boolean>`deferred_events.state = 'processed' and not deferred_events.outbox`),
    )
    .execute()
}

function toRow({ ofSubscription, ofInvoice, data, ...event }: NewDeferredEvent) {
  return {
    id: event.id,
    dedup_key: event.dedupKey,
    type: event.type,
    payment_id: event.paymentId,
    payment_method_id: event.paymentMethodId,
    cause: event.cause,
    queue: event.queue,
    attempts: event.attempts,
    exception: event.exception,
    next_attempt_at: sql<Date>`statement_timestamp() + ${interval(event.after)}`,
    subscription_id: ofSubscription?.id ?? ofInvoice?.subscriptionId ?? null,
    invoice_id: ofInvoice?.id ?? null,
    data: data === undefined ? null : JSON.stringify(data),
    event_number: ofSubscription?.eventNumber ?? null,
    quota: ofSubscription?.quota?.name ?? null,
    quota_event: ofSubscription?.quota?.eventNumber ?? null,
    webhook_call_id: ofSubscription?.callId ?? ofInvoice?.callId ?? null,
  }
}

/** What events of a subscription are written with, besides themselves. */
export interface EventsOrigin {
  readonly subscriptionId: string
  readonly cause: Cause
  /** The call that is being applied, if it is one. */
  readonly callId: string | null
  /** Of the deliveries to queued listeners. */
  readonly queue: string
  readonly newId: NewId
}

/** Events of one subscription, to be written. Its row is locked. */
export function subscriptionEvents(
  events: readonly SubscriptionEvent[],
  { subscriptionId: id, callId, ...origin }: EventsOrigin,
): readonly NewDeferredEvent[] {
  return events.map((event) => {
    const data = writeEventData(event)
    const ofSubscription = { id, eventNumber: event.eventNumber, callId }
    const paymentId = 'paymentId' in event.data ? event.data.paymentId : null
    const { type, dedupKey } = event
    return { ...newRow(type, origin), dedupKey, paymentId, data, ofSubscription }
  })
}

/** Events of quotas, in the manner of `insertDeferredEvents`. Their counters are locked. */
export function insertQuotaEvents(
  db: Kysely<Tables>,
  events: readonly FiredQuotaEvent[],
  origin: Omit<EventsOrigin, 'subscriptionId' | 'callId'>,
): Promise<void> {
  const rows = events.map((event) => {
    const quota = { name: event.data.quota, eventNumber: event.number }
    const data = writeEventData(event)
    const { type, dedupKey, subscriptionId } = event
    const ofSubscription = { id: subscriptionId, eventNumber: null, quota, callId: null }
    return { ...newRow(type, origin), dedupKey, paymentId: null, data, ofSubscription }
  })
  return insertDeferredEvents(db, rows)
}

/** The columns that every new event has. */
function newRow(
  type: EventType,
  { cause, queue, newId }: Omit<EventsOrigin, 'subscriptionId' | 'callId'>,
) {
  return {
    id: newId(),
    type,
    paymentMethodId: null,
    cause,
    queue,
    attempts: 0,
    after: 0,
    exception: null,
  }
}

/** A document of which events are written. */
export interface InvoiceOfEvents {
  readonly id: string
  readonly subscriptionId: string | null
  readonly paymentId: string | null
}

/** Events of one document, in the manner of `insertDeferredEvents`. Its row is locked, or new. */
export function insertInvoiceEvents(
  db: Kysely<Tables>,
  { id, subscriptionId, paymentId }: InvoiceOfEvents,
  {
    types,
    ...origin
  }: Omit<EventsOrigin, 'subscriptionId'> & { readonly types: readonly TypesWith<'invoice'>[] },
): Promise<void> {
  const { cause, callId, queue, newId } = origin
  const rows = types.map((type): NewDeferredEvent => ({
    ...newRow(type, { cause, queue, newId }),
    dedupKey: dedupKey(type, { invoice: id }),
    paymentId,
    ofInvoice: { id, subscriptionId, callId },
  }))
  return insertDeferredEvents(db, rows)
}

/** That an endpoint was disabled, in the manner of `insertDeferredEvents`. Its row is locked. */
export function insertEndpointDisabled(
  db: Kysely<Tables>,
  endpoint: Endpoint,
  { newId, queue }: Pick<EventsOrigin, 'newId' | 'queue'>,
): Promise<void> {
  const type = 'EndpointDisabled'
  const row = newRow(type, { cause: 'service', queue, newId })
  return insertDeferredEvents(db, [{ ...row, ...endpointDisabled(endpoint), paymentId: null }])
}

/** Ids of deferred events, by their keys. */
export async function idsOfDeferred(
  db: Kysely<Tables>,
  dedupKeys: readonly string[],
): Promise<readonly string[]> {
  if (dedupKeys.length === 0) return []
  const select = db.selectFrom('billing.deferred_events').select('id')
  const rows = await select.where('dedup_key', 'in', dedupKeys).execute()
  return rows.map(({ id }) => id)
}

/** The deferred events of a payment and its refunds, oldest first. */
export function listDeferredEvents(
  db: Kysely<Tables>,
  paymentId: string,
): Promise<readonly DeferredEvent[]> {
  return select(db, sql`deferred.payment_id = any(${withRefunds(paymentId)})`)
}

/** Those that come from a call that moved the payment, or a refund. */
export function listDeferredEventsOfCall(
  db: Kysely<Tables>,
  call: { readonly id: string; readonly paymentId: string | null },
): Promise<readonly DeferredEvent[]> {
  const { id, paymentId } = call
  return select(
    db,
    sql`(deferred.payment_id = any(${withRefunds(paymentId)})
        and moved.webhook_call_id = ${id}::uuid)
      or deferred.webhook_call_id = ${id}::uuid`,
  )
}

/** The deferred events of a subscription, in the order in which they are dispatched. */
export function listDeferredEventsOfSubscription(
  db: Kysely<Tables>,
  subscriptionId: string,
): Promise<readonly DeferredEvent[]> {
  return select(db, sql`deferred.subscription_id = ${subscriptionId}::uuid`)
}

type DeferredRow = Omit<DeferredEvent, 'data'> & { readonly data: string | null }

async function select(
  db: Kysely<Tables>,
  which: RawBuilder<unknown>,
): Promise<readonly DeferredEvent[]> {
  const { rows } = await sql<DeferredRow>`
    select deferred.id, deferred.dedup_key as "dedupKey", deferred.type,
      deferred.payment_id as "paymentId", deferred.payment_method_id as "paymentMethodId",
      deferred.subscription_id as "subscriptionId", deferred.invoice_id as "invoiceId", deferred.data,
      coalesce(deferred.webhook_call_id, moved.webhook_call_id) as "webhookCallId",
      deferred.cause as source, deferred.state, deferred.attempts,
      case when deferred.state <> 'failed' then deferred.next_attempt_at end as "nextAttemptAt",
      deferred.exception, deferred.created_at as "createdAt"
    from billing.deferred_events as deferred
    left join lateral (
      select webhook_call_id from billing.payment_transitions as transition
      where transition.payment_id = deferred.payment_id
        and deferred.subscription_id is null and deferred.invoice_id is null
        and transition.to_status = split_part(deferred.dedup_key, ':', 2)
      order by transition.id desc limit 1
    ) as moved on true
    where deferred.state <> 'processed' and (${which})
    order by deferred.created_at, deferred.event_number, deferred.quota_event, deferred.id`.execute(
    db,
  )
  return rows.map(toDeferredEvent)
}

function toDeferredEvent(row: DeferredRow): DeferredEvent {
  return { ...row, data: row.data === null ? null : (JSON.parse(row.data) as StoredData) }
}
