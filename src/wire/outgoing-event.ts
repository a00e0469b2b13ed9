import { z } from 'zod'
import {
  type BillingEvent,
  type EventSource,
  type EventType,
  catalogueRow,
  eventTypes,
} from '../events/catalogue.ts'
import {
  eventFields,
  eventFilters,
  eventSources,
  type EventRecord,
} from '../events/event-record.ts'
import type { Noun } from '../kernel/noun.ts'
import { withJson } from '../kernel/with-json.ts'
import { eventDataSchema, eventDataView } from './event-data.ts'
import { type eventSchema, eventView } from './event.ts'
import { id, time } from './fields.ts'

/** An event as it goes out: in the feed, in its stream, to an endpoint, in a list. */
export interface OutgoingEventJson {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly position: number
  readonly dedup_key: string
  readonly source: EventSource
  readonly superseded: boolean
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * An event with its place in the feed. What it is about is as it stands when it is read; nothing
 * else of it changes, but `superseded`.
 */
export type FeedEvent = BillingEvent & {
  /** Without gaps, from 1. */
  readonly position: number
  readonly source: EventSource
  /** As JSON, with names in snake_case. A copy (`{ ...event }`) is without it. */
  toJSON(): OutgoingEventJson
}

/** What its row says of it besides what listeners get. */
export interface FeedPlace {
  readonly position: bigint
  readonly source: EventSource
}

export function feedEventOf(event: BillingEvent, { position, source }: FeedPlace): FeedEvent {
  const superseded = isOvertaken(event)
  const placed = { ...event, superseded, position: Number(position), source }
  return withJson(placed, (one) => outgoingEventView(one))
}

/** Whether its payment or refund has become something else, before it was dispatched or since. */
function isOvertaken(event: BillingEvent): boolean {
  const says = catalogueRow(event.type)?.says
  if (event.superseded || says === undefined || !('payment' in event)) return event.superseded
  return event.payment?.status !== says
}

export function outgoingEventView(
  event: FeedEvent,
  onFault?: (error: unknown) => void,
): OutgoingEventJson {
  return { ...headView(event), data: dataOf(event, onFault) }
}

/** Of an event that cannot be written as it is, nothing: no reader may miss it. */
function dataOf(event: BillingEvent, onFault?: (error: unknown) => void): Record<string, unknown> {
  try {
    return eventDataView(carriedBy(event))
  } catch (error) {
    onFault?.(error)
    return {}
  }
}

function headView(event: FeedEvent): Omit<OutgoingEventJson, 'data'> {
  const { id, type, dedupKey, superseded, createdAt, position, source } = event
  return {
    id,
    type,
    timestamp: createdAt.toISOString(),
    position,
    dedup_key: dedupKey,
    source,
    superseded,
  }
}

/** What events are, whatever they are about. */
const heads = new Set(['id', 'type', 'dedupKey', 'superseded', 'createdAt', 'position', 'source'])

/** What an event is about, and what it stores. */
function carriedBy(event: BillingEvent): object {
  return Object.fromEntries(Object.entries(event).filter(([name]) => !heads.has(name)))
}

/** The gateway of what an event is about; undefined where that is not known. */
export function gatewayOf(event: BillingEvent): string | undefined {
  if ('payment' in event && event.payment !== null) return event.payment?.gateway
  if ('paymentMethod' in event) return event.paymentMethod?.gateway
  if ('subscription' in event) return event.subscription.gateway
  return 'invoice' in event ? event.invoice.gateway : undefined
}

/** An event of a list in JSON. */
export type ListedEventJson = z.output<typeof eventSchema>

/** An event of a list. */
export interface ListedEvent extends EventRecord {
  /** As it goes out, with what it is about and who got it. A copy is without it. */
  toJSON(): ListedEventJson
}

export function listedEventOf(record: EventRecord, event: BillingEvent): ListedEvent {
  const superseded = isOvertaken(event)
  const view = () => ({ ...eventView(record), superseded, data: dataOf(event) })
  return withJson({ ...record }, view)
}

export const eventNoun: Noun<ListedEvent> = {
  plural: 'events',
  facts: eventFields,
  filters: eventFilters,
  columns: ['id', 'type', 'createdAt'],
  view: (event) => event.toJSON(),
}

/** An event of this type as other systems get it. */
export function outgoingEventSchema(type: EventType) {
  return z.strictObject({
    id: id.describe('The same however often it is sent.'),
    type: z.literal(type),
    timestamp: time.describe('When it was claimed.'),
    position: z
      .int()
      .min(1)
      .describe('Its place among all events: they have one order, which never changes.'),
    dedup_key: z.string().describe('Names the outcome, which fires once.'),
    source: z.enum(eventSources).describe('What caused it.'),
    superseded: z
      .boolean()
      .describe('It holds no longer: a decline that was overtaken by a payment.'),
    data: eventDataSchema(type).describe('Its facts, and what it is about as that stands now.'),
  })
}

/** One of any type. */
export const anyOutgoingEventSchema: z.ZodType<OutgoingEventJson> = z.union(
  eventTypes.map(outgoingEventSchema),
)
