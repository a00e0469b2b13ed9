import { z } from 'zod'
import {
  deferredFields,
  deliveryFields,
  eventFields,
  type DeferredEvent,
  type EventRecord,
} from '../events/event-record.ts'
import * as field from '../kernel/noun.ts'
import { derived, viewOf } from '../kernel/noun.ts'
import { schemaOf } from './noun.ts'

/** The delivery of an event to a queued listener. */
export const deliverySchema = schemaOf(deliveryFields)

const { createdAt: _createdAt, ...sameFields } = eventFields
const fields = {
  ...sameFields,
  timestamp: derived(field.time(), ({ createdAt }: EventRecord) => createdAt.toISOString()),
}

/** A dispatched event with what it is about, as in lists. */
export const eventSchema = schemaOf(fields).extend({
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
export const deferredEventSchema = schemaOf(deferredFields)

export const eventView: (event: EventRecord) => z.output<typeof eventSchema> = viewOf(fields)

export function recordedEventView(event: EventRecord): z.output<typeof recordedEventSchema> {
  const { data, ...view } = eventView(event)
  return Object.keys(data).length === 0 ? view : { ...view, data }
}

export const deferredEventView: (event: DeferredEvent) => z.output<typeof deferredEventSchema> =
  viewOf(deferredFields)
