import { z } from 'zod'
import { isEventType } from '../../events/catalogue.ts'
import { must, oneOf, text, uuid } from '../../kernel/input-rules.ts'
import { longestFeedWait, mostFeedEvents } from '../../outbound/feed-query.ts'
import { refuseField } from './errors.ts'
import { paging } from './queries.ts'

const typesRule = must('must be names of events, with commas between them')
const types = z
  .string()
  .refine((names) => names.split(',').every(isEventType), typesRule)
  .transform((names) => names.split(',').filter(isEventType))
  .describe('Names of events, with commas between them; all events if left out.')

/** Of the list. */
const mostListed = 100

const limitRule = must(`must be a whole number from 1 to ${mostFeedEvents}`)
const limit = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, limitRule)
  .transform(Number)
  .refine((count) => count <= mostFeedEvents, limitRule)
  .meta({ shownAs: { type: 'integer', minimum: 1, maximum: mostFeedEvents } })
  .describe(
    `Of the feed: 1 to ${mostFeedEvents}, default 100; of the list: 1 to ${mostListed}, default 20.`,
  )

const longestWaitSeconds = longestFeedWait / 1000
const waitRule = must(`must be seconds from 0 to ${longestWaitSeconds}`)
const wait = z
  .string()
  .regex(/^\d{1,2}$/, waitRule)
  .transform(Number)
  .refine((count) => count <= longestWaitSeconds, waitRule)
  .meta({ shownAs: { type: 'integer', minimum: 0, maximum: longestWaitSeconds, default: 0 } })
  .describe('Of the feed: how many seconds to wait for the first event.')

const sinceRule = must('must be a time in ISO 8601, such as 2026-11-20T09:30:00Z')
const since = z.iso.datetime({ offset: true, ...sinceRule }).transform((value) => new Date(value))
const afterMeaning =
  'Of the feed: the `next_cursor` of the page before, the id of an event, `start` (if left out) or `end`.'

/** Where a reader begins, and what it wants. */
const reading = {
  after: text(200).describe(afterMeaning).optional(),
  since: since
    .describe('Of the feed, instead of `after`: the events from this time on.')
    .optional(),
  type: types.optional(),
  gateway: text(64).describe('Of the feed: events about what this gateway carries.').optional(),
}

/** Of the feed (`order=asc`), and of the list. */
export const eventsQuery = z.strictObject({
  order: oneOf(['asc', 'desc'])
    .describe('`asc`: the feed, oldest first; otherwise the list, newest first.')
    .optional(),
  ...reading,
  limit: limit.optional(),
  wait: wait.optional(),
  cursor: paging.cursor.describe('Of the list: the `next_cursor` of the page before.'),
  payment_id: uuid.describe('Of the list: events of this payment and of its refunds.').optional(),
  subscription_id: uuid.describe('Of the list: events of this subscription.').optional(),
})

export const streamQuery = z.strictObject(reading)

type EventsQuery = z.output<typeof eventsQuery>

const ofFeed = ['after', 'since', 'gateway', 'wait'] as const
const ofList = ['cursor', 'payment_id', 'subscription_id'] as const

/** What is asked of the feed. 400 if it holds what only the list takes. */
export function feedQueryOf({
  after,
  since: from,
  gateway,
  type,
  limit: most,
  ...rest
}: EventsQuery) {
  const foreign = ofList.find((name) => rest[name] !== undefined)
  if (foreign !== undefined) throw refuseField(foreign, 'cannot be given with order=asc')
  return { after, since: from, gateway, type, limit: most, wait: rest.wait ?? 0 }
}

/** What is asked of the list. 400 if it holds what only the feed takes. */
export function listQueryOf(query: EventsQuery) {
  const foreign = ofFeed.find((name) => query[name] !== undefined)
  if (foreign !== undefined) throw refuseField(foreign, 'needs order=asc')
  if ((query.limit ?? 0) > mostListed) {
    const most = `must be a whole number from 1 to ${mostListed}; more with order=asc`
    throw refuseField('limit', most)
  }
  const {
    limit: most,
    cursor,
    type,
    payment_id: paymentId,
    subscription_id: subscriptionId,
  } = query
  return { limit: most, cursor, type, paymentId, subscriptionId }
}
