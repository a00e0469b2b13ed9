import { z } from 'zod'
import { eventTypes, type EventType } from '../events/catalogue.ts'
import { eventDataSchema } from './event-data.ts'
import { eventSources } from './event.ts'
import { id, time } from './fields.ts'
import type { OutgoingEventJson } from './outgoing-event.ts'

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
