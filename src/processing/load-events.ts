import { sql, type Kysely, type Selectable } from 'kysely'
import { findDispute } from '../database/disputes.ts'
import { named } from '../database/named-statements.ts'
import { findPaymentMethod } from '../database/payment-methods.ts'
import { findPayments } from '../database/payments.ts'
import type { EventsTable, Tables } from '../database/tables.ts'
import type { BillingEvent } from '../events/catalogue.ts'
import { disputeIdIn } from '../events/dedup-key.ts'
import { isSubscriptionEventType, readEventData, type StoredData } from '../events/event-data.ts'
import type { Payment } from '../payments/payment.ts'
import { loadInvoiceEvent } from './load-invoice-event.ts'
import {
  loadSubscriptionEvent,
  type LoadContext,
  type SubscriptionEventOf,
} from './load-subscription-event.ts'

type EventRow = Pick<
  Selectable<EventsTable>,
  | 'id'
  | 'dedup_key'
  | 'type'
  | 'payment_id'
  | 'payment_method_id'
  | 'subscription_id'
  | 'invoice_id'
  | 'superseded'
  | 'data'
  | 'created_at'
>

interface EventContext extends LoadContext {
  readonly payments: ReadonlyMap<string, Payment>
}

/** An event as its queued listeners get it, or why it cannot be read: others can. */
export type LoadedEvent = { readonly event: BillingEvent } | { readonly error: unknown }

/** Events as their queued listeners get them, in the order of the ids; undefined: it is gone. */
export async function loadEvents(
  db: Kysely<Tables>,
  ids: readonly string[],
  context: LoadContext,
): Promise<readonly (LoadedEvent | undefined)[]> {
  const { rows } = await sql<EventRow>`${named('load-events')}
    select id, dedup_key, type, payment_id, payment_method_id, subscription_id, invoice_id,
      superseded, data, created_at
    from billing.events where id = any(${[...ids]}::uuid[])`.execute(db)
  const paymentIds = rows.flatMap(({ payment_id: id }) => id ?? [])
  const payments = await findPayments(db, [...new Set(paymentIds)])
  const events = new Map<string, LoadedEvent>()
  for (const row of rows) events.set(row.id, await toEvent(db, row, { ...context, payments }))
  return ids.map((id) => events.get(id))
}

async function toEvent(
  db: Kysely<Tables>,
  row: EventRow,
  context: EventContext,
): Promise<LoadedEvent> {
  const { id, type, dedup_key: dedupKey, superseded, created_at: createdAt } = row
  const head = { id, type, dedupKey, superseded, createdAt }
  const { invoice_id: invoiceId } = row
  if (invoiceId !== null) {
    const subject = await loadInvoiceEvent(db, { type, invoiceId }, context)
    return { event: { ...subject, ...head } as unknown as BillingEvent }
  }
  const planned = readPlanned(row)
  if (planned !== undefined && 'error' in planned) return planned
  const subject = planned
    ? await loadSubscriptionEvent(db, planned, context)
    : { ...(JSON.parse(row.data) as StoredData), ...(await loadSubject(db, row, context)) }
  return { event: { ...subject, ...head } as unknown as BillingEvent }
}

/** What an event of a subscription stored; undefined: it is about something else. */
function readPlanned({
  subscription_id: subscriptionId,
  type,
  data,
}: EventRow): SubscriptionEventOf | { readonly error: unknown } | undefined {
  if (subscriptionId === null || !isSubscriptionEventType(type)) return undefined
  try {
    return { subscriptionId, planned: readEventData(type, JSON.parse(data) as StoredData) }
  } catch (error) {
    return { error }
  }
}

/** As it is now: a queued listener runs later. */
async function loadSubject(
  db: Kysely<Tables>,
  { payment_id: paymentId, payment_method_id: methodId, dedup_key: key }: EventRow,
  context: EventContext,
) {
  if (methodId !== null) return { paymentMethod: await findPaymentMethod(db, methodId) }
  // Stryker disable next-line ConditionalExpression: no payment is known by no id
  const payment = paymentId === null ? undefined : context.payments.get(paymentId)
  const disputeId = disputeIdIn(key)
  return disputeId === undefined
    ? { payment }
    : { payment, dispute: await findDispute(db, disputeId) }
}
