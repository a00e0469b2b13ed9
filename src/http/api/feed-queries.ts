import { z } from 'zod'
import { isEventType } from '../../events/catalogue.ts'
import { must, text } from '../../kernel/input-rules.ts'
import { longestFeedWait, mostFeedEvents } from '../../outbound/feed-query.ts'
import { eventsQuery } from './queries.ts'

const typesRule = must('must be names of events, with commas between them')
const types = z
  .string()
  .refine((names) => names.split(',').every(isEventType), typesRule)
  .transform((names) => names.split(',').filter(isEventType))

const limitRule = must(`must be a whole number from 1 to ${mostFeedEvents}`)
const limit = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, limitRule)
  .transform(Number)
  .refine((count) => count <= mostFeedEvents, limitRule)

const longestWaitSeconds = longestFeedWait / 1000
const waitRule = must(`must be seconds from 0 to ${longestWaitSeconds}`)
const wait = z
  .string()
  .regex(/^\d{1,2}$/, waitRule)
  .transform(Number)
  .refine((count) => count <= longestWaitSeconds, waitRule)

const sinceRule = must('must be a time in ISO 8601, such as 2026-11-20T09:30:00Z')
const since = z.iso.datetime({ offset: true, ...sinceRule }).transform((value) => new Date(value))

/** Where a reader begins, and what it wants. */
const reading = {
  after: text(200).optional(),
  since: since.optional(),
  type: types.optional(),
  gateway: text(64).optional(),
}

/** `order=asc`: the feed. Otherwise: a list, newest first. */
export const eventsOrFeedQuery = z.discriminatedUnion('order', [
  z.strictObject({
    order: z.literal('asc'),
    ...reading,
    limit: limit.optional(),
    wait: wait.optional(),
  }),
  eventsQuery.extend({ order: z.literal('desc').optional() }),
])

export const streamQuery = z.strictObject(reading)
