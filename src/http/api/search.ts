import { callView, callSchema } from '../../wire/call.ts'
import { time } from '../../wire/fields.ts'
import { foundSchema, foundView } from '../../wire/found.ts'
import { pageSchema, pageView } from '../../wire/page.ts'
import { callSearchQuery, searchQuery } from './queries.ts'
import { defined } from './read-request.ts'
import { listErrors } from './refusals.ts'
import { route } from './route.ts'

const scannedSchema = pageSchema(callSchema).extend({ looked_back_to: time })

/** `/search` of the management API. */
export const searchRoutes = [
  route({
    name: 'search',
    method: 'GET',
    path: '/search',
    summary: 'What has a text as its id or reference, or its amount and day',
    description:
      'Exact matches, 50 at most, the surest first: an id of ours; a provider’s id or checkout reference; ' +
      'a payable (`order:42`) or its id; the id, e-mail or phone of a customer; metadata that the service ' +
      'is set to search; the number of an invoice; an amount and a day (`19.99 EUR yesterday`).',
    query: searchQuery,
    answers: { 200: foundSchema },
    errors: ['query_invalid'],
    handle: async ({ core, query: { q } }) => ({
      status: 200,
      body: foundView(await core.inspect.find(q)),
    }),
  }),
  route({
    name: 'searchWebhookCalls',
    method: 'GET',
    path: '/search/webhook-calls',
    summary: 'Stored callbacks whose payload contains a text, newest first',
    description:
      'Some 20,000 are looked at, or those of two seconds: a page may be short, or empty, although there is ' +
      'a next one. `looked_back_to` says how far it has come.',
    query: callSearchQuery,
    answers: { 200: scannedSchema },
    errors: listErrors,
    handle: async ({ core, query: { text, ...rest } }) => {
      const page = await core.inspect.callsWith({ text, ...defined(rest) })
      const looked_back_to = page.lookedBackTo.toISOString()
      return { status: 200, body: { ...pageView(page, callView), looked_back_to } }
    },
  }),
]
