import { z } from 'zod'
import { callFilters } from '../../events/webhook-call.ts'
import { QuittanceError } from '../../kernel/errors.ts'
import { readUuid } from '../../kernel/uuid.ts'
import { callDetailsSchema, callDetailsView, callSchema, callView } from '../../wire/call.ts'
import { pageSchema, pageView } from '../../wire/page.ts'
import { idOf } from './params.ts'
import { callsQuery } from './queries.ts'
import { listQueryOf } from './read-request.ts'
import { gatewayListErrors } from './refusals.ts'
import { route } from './route.ts'

const ofCall = idOf('the stored callback')

/** `/webhook-calls` of the management API. */
export const callRoutes = [
  route({
    name: 'listWebhookCalls',
    method: 'GET',
    path: '/webhook-calls',
    summary: 'Lists stored callbacks, newest first',
    query: callsQuery,
    answers: { 200: pageSchema(callSchema) },
    errors: gatewayListErrors,
    handle: async ({ core, query: asked }) => {
      const page = await core.calls.list(listQueryOf(core, callFilters, asked))
      return { status: 200, body: pageView(page, callView) }
    },
  }),
  route({
    name: 'getWebhookCall',
    method: 'GET',
    path: '/webhook-calls/{id}',
    summary: 'One stored callback, with what was received',
    params: ofCall,
    answers: { 200: callDetailsSchema },
    errors: ['call_not_found'],
    handle: async ({ core, params }) => {
      const call = await core.calls.get(params.id)
      if (call === undefined) throw noSuchCall()
      return { status: 200, body: callDetailsView(call) }
    },
  }),
  route({
    name: 'replayWebhookCall',
    method: 'POST',
    path: '/webhook-calls/{id}/replay',
    summary: 'Processes a callback again; what it has claimed stays claimed',
    params: ofCall,
    answers: { 202: z.strictObject({ message: z.string() }) },
    errors: ['call_not_found', 'call_in_progress'],
    handle: async ({ core, params }) => {
      if (readUuid(params.id) === undefined) throw noSuchCall()
      await core.calls.replay(params.id)
      return { status: 202, body: { message: 'the call is queued again' } }
    },
  }),
]

function noSuchCall(): QuittanceError {
  return new QuittanceError('call_not_found', 'there is no webhook call with this id')
}
