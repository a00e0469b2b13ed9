import { z } from 'zod'
import { deliveryStates, type DeferredEvent, type EventRecord } from '../events/event-record.ts'
import { causes } from '../payments/payment.ts'
import { id, time } from './fields.ts'

/** What an event and a deferred one have in common. */
const head = {
  id,
  dedup_key: z.string(),
  type: z.string(),
  payment_id: id.nullable(),
  payment_method_id: id.nullable(),
  subscription_id: id.nullable(),
  invoice_id: id.nullable(),
  webhook_call_id: id.nullable(),
}

/** The delivery of an event to a queued listener. */
export const deliverySchema = z.strictObject({
  listener: z.string(),
  state: z.enum(deliveryStates),
  attempts: z.int(),
  exception: z.string().nullable(),
})

/** What may cause an event. */
export const eventSources = [...causes, 'browser'] as const

/** A dispatched event with what it is about, as in lists. */
export const eventSchema = z.strictObject({
  ...head,
  source: z.enum(eventSources),
  superseded: z.boolean(),
  data: z.record(z.string(), z.unknown()),
  timestamp: time,
  position: z.int().min(1).nullable().describe('Its place in the feed; null for a moment.'),
  deliveries: z.array(deliverySchema).readonly(),
})

/** The same in the history of its subject: with what it stores besides. */
export const recordedEventSchema = eventSchema.extend({
  data: eventSchema.shape.data
    .optional()
    .describe('What it says besides its type and its ids; absent where that is all.'),
})

/** An event that waits to be dispatched. */
export const deferredEventSchema = z.strictObject({
  ...head,
  source: z.enum(causes),
  data: z.record(z.string(), z.unknown()).nullable(),
  state: z.enum(deliveryStates).exclude(['processed']),
  attempts: z.int(),
  next_attempt_at: time.nullable(),
  exception: z.string().nullable(),
  created_at: time,
})

export function recordedEventView(event: EventRecord): z.output<typeof recordedEventSchema> {
  const { data, ...view } = eventView(event)
  return Object.keys(data).length === 0 ? view : { ...view, data }
}

export function eventView(event: EventRecord): z.output<typeof eventSchema> {
  return {
    ...headOf(event),
    source: event.source,
    superseded: event.superseded,
    data: event.data,
    timestamp: event.createdAt.toISOString(),
    position: event.position,
    deliveries: event.deliveries,
  }
}

export function deferredEventView(event: DeferredEvent): z.output<typeof deferredEventSchema> {
  return {
    ...headOf(event),
    source: event.source,
    data: event.data,
    state: event.state,
    attempts: event.attempts,
    next_attempt_at: event.nextAttemptAt?.toISOString() ?? null,
    exception: event.exception,
    created_at: event.createdAt.toISOString(),
  }
}

function headOf(event: EventRecord | DeferredEvent) {
  return {
    id: event.id,
    dedup_key: event.dedupKey,
    type: event.type,
    payment_id: event.paymentId,
    payment_method_id: event.paymentMethodId,
    subscription_id: event.subscriptionId,
    invoice_id: event.invoiceId,
    webhook_call_id: event.webhookCallId,
  }
}
