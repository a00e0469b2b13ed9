import type { Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import { z } from 'zod'
import type { FeedQuery, FeedResult } from '../../billing/event-types.ts'
import { isEventType } from '../../events/catalogue.ts'
import { minutes, seconds } from '../../kernel/duration.ts'
import { QuittanceError } from '../../kernel/errors.ts'
import { must, oneOf, text, uuid } from '../../kernel/input-rules.ts'
import type { Log } from '../../kernel/log.ts'
import { within } from '../../kernel/within.ts'
import { longestFeedWait, mostFeedEvents } from '../../outbound/feed-query.ts'
import { eventSchema } from '../../wire/event.ts'
import { anyOutgoingEventSchema } from '../../wire/outgoing-event.ts'
import { outgoingEventView } from '../../wire/outgoing-event.ts'
import { pageSchema, pageView } from '../../wire/page.ts'
import { askedBy } from '../asked-by.ts'
import { eventStreamHeaders } from '../event-stream-headers.ts'
import { refuseField } from './errors.ts'
import { inPlace, placesOf } from './feed-places.ts'
import { idOf } from './params.ts'
import { paging } from './queries.ts'
import { canonical, defined } from './read-request.ts'
import { listErrors } from './refusals.ts'
import { route } from './route.ts'

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

const streamQuery = z.strictObject(reading)

type EventsQuery = z.output<typeof eventsQuery>

const ofFeed = ['after', 'since', 'gateway', 'wait'] as const
const ofList = ['cursor', 'payment_id', 'subscription_id'] as const

/** What is asked of the feed. 400 if it holds what only the list takes. */
function feedQueryOf({ after, since: from, gateway, type, limit: most, ...rest }: EventsQuery) {
  const foreign = ofList.find((name) => rest[name] !== undefined)
  if (foreign !== undefined) throw refuseField(foreign, 'cannot be given with order=asc')
  return { after, since: from, gateway, type, limit: most, wait: rest.wait ?? 0 }
}

/** What is asked of the list. 400 if it holds what only the feed takes. */
function listQueryOf(query: EventsQuery) {
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

const feedSchema = z.strictObject({
  data: z.array(anyOutgoingEventSchema),
  next_cursor: z.string(),
  has_more: z.boolean(),
})

function feedView({ data, nextCursor, hasMore }: FeedResult): z.output<typeof feedSchema> {
  return {
    data: data.map((event) => outgoingEventView(event)),
    next_cursor: nextCursor,
    has_more: hasMore,
  }
}

const feedErrors = [...listErrors, 'gateway_unknown', 'cursor_unknown', 'feed_crowded'] as const

/** `/events` of the management API: the list, the feed and its stream. */
export const eventRoutes = [
  route({
    name: 'listEvents',
    method: 'GET',
    path: '/events',
    summary: 'Lists events, newest first; with `order=asc`, reads the feed',
    description:
      'The feed: each event once, in an order that never changes. Store `next_cursor` together with ' +
      'what you did for its events, and give it as `after` the next time; begin with `start`, `end` ' +
      'or a time, `since`. `wait`: seconds to wait for the first event.',
    query: eventsQuery,
    answers: { 200: z.union([feedSchema, pageSchema(eventSchema)]) },
    errors: feedErrors,
    handle: async ({ core, query: asked, c, closing }) => {
      if (asked.order !== 'asc') {
        const page = await core.events.list(defined(listQueryOf(asked)))
        return { status: 200, body: pageView(page, (event) => event.toJSON()) }
      }
      const { type: types, wait, ...query } = feedQueryOf(asked)
      const signal = waiting(c.req.raw.signal, closing)
      const read = { ...canonical(core, query), types, wait: wait * 1000, signal }
      const leave = wait === 0 ? undefined : placesOf(core.events).take(askedBy(c))
      try {
        return { status: 200, body: feedView(await core.events.feed(defined(read))) }
      } finally {
        leave?.()
      }
    },
  }),
  route({
    name: 'streamEvents',
    method: 'GET',
    path: '/events/stream',
    summary: 'The feed as server-sent events',
    description:
      'The id of each is the cursor: a browser that lost the connection goes on behind the last one, ' +
      'with the header `Last-Event-ID`. A stream ends after 15 minutes.',
    query: streamQuery,
    answers: { 200: { text: { 'text/event-stream': 'An event each, as in the feed.' } } },
    errors: feedErrors,
    handle: async ({ core, query: asked, c, closing, log }) => {
      const last = c.req.header('last-event-id')
      const { type: types, after, since, ...query } = asked
      const start = last === undefined || last === '' ? { after, since } : { after: last }
      const read = defined({ ...canonical(core, query), ...start, types })
      return streamEvents(c, {
        read: (how) =>
          inPlace(
            () => placesOf(core.events).take(askedBy(c)),
            () => core.events.pages({ ...read, ...how }),
          ),
        closing,
        log,
      })
    },
  }),
  route({
    name: 'getEvent',
    method: 'GET',
    path: '/events/{id}',
    summary: 'One event, with its deliveries',
    params: idOf('the event'),
    answers: { 200: eventSchema },
    errors: ['event_not_found'],
    handle: async ({ core, params }) => {
      const event = await core.events.get(params.id)
      if (event === undefined) {
        throw new QuittanceError('event_not_found', 'there is no event with this id')
      }
      return { status: 200, body: event.toJSON() }
    },
  }),
]

/** Until whoever asked has gone, or the service stops. */
function waiting(asked: AbortSignal, closing: AbortSignal | undefined): AbortSignal {
  return closing === undefined ? asked : AbortSignal.any([asked, closing])
}

/** Whoever takes nothing for so long is cut off: it may come again. */
const takesWithin = seconds(30)
/** A silent connection would be cut, by proxies and by our own server. */
const beatEvery = seconds(15)
/** Then a reader comes again: it may be to another process. */
const streamLasts = minutes(15)
const reconnectMs = 1_000

interface Streamed {
  read(how: Pick<FeedQuery, 'wait' | 'signal'>): AsyncIterable<FeedResult>
  readonly closing: AbortSignal | undefined
  readonly log: Log
}

/**
 * The feed as server-sent events. What keeps it from beginning is thrown, before anything is sent.
 * As fast as it is read: the next page is looked up when the one before has been taken.
 */
export async function streamEvents(c: Context, streamed: Streamed): Promise<Response> {
  const { read, closing, log } = streamed
  const ends = [c.req.raw.signal, AbortSignal.timeout(streamLasts), ...(closing ? [closing] : [])]
  const gone = new AbortController()
  const signal = AbortSignal.any([...ends, gone.signal])
  const pages = read({ wait: beatEvery, signal })[Symbol.asyncIterator]()
  const first = await pages.next()
  if (c.req.method !== 'GET') {
    gone.abort()
    await pages.return?.()
    return new Response(null, { headers: eventStreamHeaders })
  }
  const response = streamSSE(c, async (stream) => {
    stream.onAbort(() => gone.abort())
    try {
      const write = (text: string) => taken(stream.write(text), signal)
      await write(`retry: ${reconnectMs}\n\n`)
      let known: string | undefined
      for (let page = first; page.done !== true; page = await pages.next()) {
        known = await sendPage(write, page.value, known)
      }
    } catch (error) {
      // Its reader comes again, and then learns why.
      if (!signal.aborted) log.warn({ err: error }, 'a stream of events ended early')
    } finally {
      await pages.return?.()
    }
  })
  // How it is transferred is up to the server: HTTP/2 has neither header.
  for (const name of ['transfer-encoding', 'connection']) response.headers.delete(name)
  for (const [name, value] of Object.entries(eventStreamHeaders)) response.headers.set(name, value)
  return response
}

/** Ends when the reader has taken what was written; throws if it is gone, or takes nothing. */
async function taken(writing: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const late = () => new Error(`a reader took nothing for ${takesWithin / 1000} s`)
  const over = Promise.withResolvers<never>()
  const end = () => over.reject(new Error('the stream is over'))
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  try {
    await within(takesWithin, late, () => Promise.race([writing, over.promise]))
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** Returns the cursor that the reader has by then. */
async function sendPage(
  write: (text: string) => Promise<void>,
  { data, nextCursor }: FeedResult,
  known: string | undefined,
): Promise<string> {
  for (const event of data) {
    await write(`data: ${JSON.stringify(event)}\nid: ${event.id}\n\n`)
  }
  const last = data.at(-1)?.id ?? known
  // Looked at and not wanted: a reader that comes again need not have them looked at once more.
  if (last !== nextCursor) await write(`id: ${nextCursor}\n\n`)
  else if (data.length === 0) await write(':\n\n')
  return nextCursor
}
