import { z } from 'zod'
import type { FeedResult } from '../../billing/event-types.ts'
import { QuittanceError } from '../../kernel/errors.ts'
import { eventSchema } from '../../wire/event.ts'
import { anyOutgoingEventSchema } from '../../wire/outgoing-event-schema.ts'
import { outgoingEventView } from '../../wire/outgoing-event.ts'
import { pageSchema, pageView } from '../../wire/page.ts'
import { streamEvents } from './event-stream.ts'
import { inPlace, placesOf } from './feed-places.ts'
import { eventsQuery, feedQueryOf, listQueryOf, streamQuery } from './feed-queries.ts'
import { idOf } from './params.ts'
import { askedBy } from '../asked-by.ts'
import { canonical, defined } from './read-request.ts'
import { listErrors } from './refusals.ts'
import { route } from './route.ts'

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
