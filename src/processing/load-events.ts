import { sql, type Kysely, type Selectable } from 'kysely'
import { named } from '../database/named-statements.ts'
import type { EventsTable, Tables } from '../database/tables.ts'
import type { BillingEvent } from '../events/catalogue.ts'
import { disputeIdIn } from '../events/dedup-key.ts'
import { endpointEventType, readEndpointDisabled } from '../events/endpoint-event.ts'
import { isSubscriptionEventType, readEventData, type StoredData } from '../events/event-data.ts'
import { assertNever } from '../kernel/errors.ts'
import { invoiceSubjectOf, type InvoiceEventOf } from './invoice-subject.ts'
import { loadSubjects, type LoadContext, type SubjectIds, type Subjects } from './load-subjects.ts'
import {
  idsOfSubscriptionEvent,
  subscriptionSubjectOf,
  type SubscriptionEventOf,
} from './subscription-subject.ts'

/** What an event is loaded from. */
export type EventRow = Pick<
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

/** An event as its queued listeners get it, or why it cannot be read: others can. */
export type LoadedEvent = { readonly event: BillingEvent } | { readonly error: unknown }

/** The same with the id of the call that brought it, if one did. */
export type FoundEvent = LoadedEvent & { readonly callId: string | null }

/** Events as their queued listeners get them, in the order of the ids; undefined: it is gone. */
export async function loadEvents(
  db: Kysely<Tables>,
  ids: readonly string[],
  context: LoadContext,
): Promise<readonly (FoundEvent | undefined)[]> {
  const { rows } = await sql<
    EventRow & Pick<EventsTable, 'webhook_call_id'>
  >`${named('load-events')}
    select id, dedup_key, type, payment_id, payment_method_id, subscription_id, invoice_id,
      webhook_call_id, superseded, data, created_at
    from billing.events where id = any(${[...ids]}::uuid[])`.execute(db)
  const loaded = await loadRows(db, rows, context)
  const events = new Map(
    rows.map(({ id, webhook_call_id: callId }, index) => {
      const one = loaded[index]
      return [id, one && { ...one, callId }]
    }),
  )
  return ids.map((id) => events.get(id))
}

/** The events of rows, in their order. What they are about is read as it stands. */
export async function loadRows(
  db: Kysely<Tables>,
  rows: readonly EventRow[],
  context: LoadContext,
): Promise<readonly LoadedEvent[]> {
  const read = rows.map((row) => ({ row, about: aboutOf(row) }))
  const needed = read.map(({ about }) => idsOf(about))
  const subjects = await loadSubjects(db, needed, context)
  return read.map((one) => toEvent(one, subjects, context))
}

type About =
  | ({ readonly kind: 'invoice' } & InvoiceEventOf)
  | ({ readonly kind: 'subscription' } & SubscriptionEventOf)
  | { readonly kind: 'payment_method'; readonly id: string }
  | { readonly kind: 'dispute'; readonly id: string; readonly paymentId: string | null }
  | { readonly kind: 'payment'; readonly paymentId: string | null }
  | { readonly kind: 'endpoint'; readonly subject: object }
  | { readonly kind: 'unreadable'; readonly error: unknown }

interface ReadRow {
  readonly row: EventRow
  readonly about: About
}

/** What an event is about, by its row alone. */
function aboutOf(row: EventRow): About {
  const { type, invoice_id: invoiceId, subscription_id: subscriptionId } = row
  if (invoiceId !== null) return { kind: 'invoice', type, invoiceId }
  if (subscriptionId !== null && isSubscriptionEventType(type)) {
    try {
      const planned = readEventData(type, JSON.parse(row.data) as StoredData)
      return { kind: 'subscription', subscriptionId, planned }
    } catch (error) {
      return { kind: 'unreadable', error }
    }
  }
  if (type === endpointEventType) return endpointOf(row)
  const { payment_method_id: methodId, payment_id: paymentId } = row
  if (methodId !== null) return { kind: 'payment_method', id: methodId }
  const disputeId = disputeIdIn(row.dedup_key)
  return disputeId === undefined
    ? { kind: 'payment', paymentId }
    : { kind: 'dispute', id: disputeId, paymentId }
}

/** All that it says is stored with it. */
function endpointOf({ data }: EventRow): About {
  try {
    return { kind: 'endpoint', subject: readEndpointDisabled(JSON.parse(data) as StoredData) }
  } catch (error) {
    return { kind: 'unreadable', error }
  }
}

function idsOf(about: About): SubjectIds {
  switch (about.kind) {
    case 'invoice':
      return { invoice: about.invoiceId }
    case 'subscription':
      return idsOfSubscriptionEvent(about)
    case 'payment_method':
      return { paymentMethod: about.id }
    case 'dispute':
      return { dispute: about.id, payment: about.paymentId }
    case 'payment':
      return { payment: about.paymentId }
    case 'endpoint':
    case 'unreadable':
      return {}
    default:
      return assertNever(about)
  }
}

function toEvent({ row, about }: ReadRow, subjects: Subjects, context: LoadContext): LoadedEvent {
  if (about.kind === 'unreadable') return about
  const { id, type, dedup_key: dedupKey, superseded, created_at: createdAt } = row
  const head = { id, type, dedupKey, superseded, createdAt }
  try {
    const carried = carriedBy({ row, about }, subjects, context)
    return { event: { ...carried, ...head } as unknown as BillingEvent }
  } catch (error) {
    return { error }
  }
}

function carriedBy(
  {
    row,
    about,
  }: { readonly row: EventRow; readonly about: Exclude<About, { kind: 'unreadable' }> },
  subjects: Subjects,
  context: LoadContext,
): object {
  if (about.kind === 'invoice') return invoiceSubjectOf(about, subjects)
  if (about.kind === 'subscription') return subscriptionSubjectOf(about, subjects, context)
  if (about.kind === 'endpoint') return about.subject
  const stored = JSON.parse(row.data) as StoredData
  if (about.kind === 'payment_method') {
    return { ...stored, paymentMethod: subjects.paymentMethods.get(about.id) }
  }
  const payment = subjects.payments.get(about.paymentId ?? '')
  return about.kind === 'dispute'
    ? { ...stored, payment, dispute: subjects.disputes.get(about.id) }
    : { ...stored, payment }
}
