import { eventSchema, eventView } from '../../wire/event.ts'
import { pageSchema, pageView } from '../../wire/page.ts'
import { eventsQuery } from './queries.ts'
import { defined } from './read-request.ts'
import { listErrors } from './refusals.ts'
import { route } from './route.ts'

/** `/events` of the management API. */
export const eventRoutes = [
  route({
    name: 'listEvents',
    method: 'GET',
    path: '/events',
    summary: 'Lists events, newest first',
    query: eventsQuery,
    answers: { 200: pageSchema(eventSchema) },
    errors: listErrors,
    handle: async ({ core, query: asked }) => {
      const { payment_id: paymentId, subscription_id: subscriptionId, ...query } = asked
      const page = await core.events.list(defined({ ...query, paymentId, subscriptionId }))
      return { status: 200, body: pageView(page, eventView) }
    },
  }),
]
