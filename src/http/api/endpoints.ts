import type { Context } from 'hono'
import { z } from 'zod'
import {
  type Endpoint,
  type ForwardAttempt,
  attemptFilters,
  forwardFilters,
} from '../../events/endpoint.ts'
import { type ErrorCode, QuittanceError } from '../../kernel/errors.ts'
import { oneOf, text, time, uuid } from '../../kernel/input-rules.ts'
import { readInput } from '../../kernel/read-input.ts'
import {
  endpointChangeRules,
  endpointRules,
  readEndpoint,
  readEndpointChanges,
} from '../../outbound/endpoint-input.ts'
import {
  createdEndpointSchema,
  createdEndpointView,
  endpointSchema,
  endpointTestSchema,
  endpointTestView,
  endpointView,
  forwardAttemptSchema,
  forwardAttemptView,
  forwardSchema,
  forwardView,
} from '../../wire/endpoint.ts'
import { pageSchema, pageView } from '../../wire/page.ts'
import { isReader } from '../reader.ts'
import { inJson, inLibrary, noFields } from './bodies.ts'
import { attemptsQuery, forwardsQuery } from './queries.ts'
import { defined, listQueryOf } from './read-request.ts'
import { listErrors } from './refusals.ts'
import { route } from './route.ts'

/** An endpoint to make. Error: `endpoint_invalid`. */
const endpointBody = {
  schema: inJson(endpointRules),
  read: (given: unknown) =>
    readEndpoint(inLibrary(given, endpointRules, { code: 'endpoint_invalid' })),
}

/** What of one is to be changed. Error: `endpoint_invalid`. */
const endpointChangesBody = {
  schema: inJson(endpointChangeRules),
  read: (given: unknown) =>
    readEndpointChanges(inLibrary(given, endpointChangeRules, { code: 'endpoint_invalid' })),
}

/** Where it reads on. Error: `endpoint_invalid`. */
const enableBody = {
  ...bodyOf({ from: oneOf(['end']).optional() }, 'endpoint_invalid'),
  mayBeEmpty: true,
}

/** From where events are sent again. Error: `query_invalid`. */
const replayBody = bodyOf({ after: text(200).optional(), since: time.optional() }, 'query_invalid')

/** Which event is sent again. Error: `endpoint_invalid`. */
const resendBody = bodyOf({ eventId: uuid.describe('The id of the event.') }, 'endpoint_invalid')

function bodyOf<Rules extends Readonly<Record<string, z.ZodType>>>(rules: Rules, code: ErrorCode) {
  const schema = z.strictObject(rules)
  return {
    schema: inJson(rules),
    read: (given: unknown) => readInput(schema, inLibrary(given, rules, { code }), code),
  }
}

const ofEndpoint = { id: z.string().min(1).describe('The id of the endpoint, or its name.') }

/** `/endpoints` of the management API: how they stand, and how they are changed. */
export const endpointRoutes = [
  route({
    name: 'listEndpoints',
    method: 'GET',
    path: '/endpoints',
    summary: 'Lists where events are sent to, by name',
    answers: { 200: z.strictObject({ data: z.array(endpointSchema) }) },
    handle: async ({ core, c }) => {
      const endpoints = await core.endpoints.list()
      return { status: 200, body: { data: endpoints.map((one) => viewFor(c, one)) } }
    },
  }),
  route({
    name: 'createEndpoint',
    method: 'POST',
    path: '/endpoints',
    summary: 'Makes an endpoint; events from now on are sent to it',
    description: 'Its `secret` is answered this once.',
    body: endpointBody,
    answers: { 201: createdEndpointSchema },
    errors: [
      'endpoint_exists',
      'endpoint_invalid',
      'endpoint_url_refused',
      'encryption_key_missing',
    ],
    handle: async ({ core, body }) => {
      return { status: 201, body: createdEndpointView(await core.endpoints.create(body)) }
    },
  }),
  route({
    name: 'getEndpoint',
    method: 'GET',
    path: '/endpoints/{id}',
    summary: 'One endpoint',
    params: ofEndpoint,
    answers: { 200: endpointSchema },
    errors: ['endpoint_not_found'],
    handle: async ({ core, params, c }) => {
      const endpoint = await core.endpoints.get(params.id)
      if (endpoint === undefined) throw noSuchEndpoint()
      return { status: 200, body: viewFor(c, endpoint) }
    },
  }),
  route({
    name: 'updateEndpoint',
    method: 'PATCH',
    path: '/endpoints/{id}',
    summary: 'Changes an endpoint',
    description: 'What is left out stays as it is.',
    params: ofEndpoint,
    body: endpointChangesBody,
    answers: { 200: endpointSchema },
    errors: [
      'endpoint_not_found',
      'endpoint_exists',
      'endpoint_declared',
      'endpoint_invalid',
      'endpoint_url_refused',
    ],
    handle: async ({ core, params, body }) => {
      const endpoint = await core.endpoints.update(params.id, defined(body))
      return { status: 200, body: endpointView(endpoint) }
    },
  }),
  route({
    name: 'deleteEndpoint',
    method: 'DELETE',
    path: '/endpoints/{id}',
    summary: 'Deletes an endpoint; what it was sent is pruned later',
    description: 'Answers it as it was. To keep its place, disable it.',
    params: ofEndpoint,
    body: noFields,
    answers: { 200: endpointSchema },
    errors: ['endpoint_not_found', 'endpoint_declared'],
    handle: async ({ core, params }) => {
      const endpoint = await core.endpoints.get(params.id)
      if (endpoint === undefined) throw noSuchEndpoint()
      await core.endpoints.remove(endpoint.id)
      return { status: 200, body: endpointView(endpoint) }
    },
  }),
  route({
    name: 'enableEndpoint',
    method: 'POST',
    path: '/endpoints/{id}/enable',
    summary: 'Sends to an endpoint again, all that it has missed',
    description:
      'With `from: end`, what has come meanwhile is not sent. Ends a pause after failures.',
    params: ofEndpoint,
    body: enableBody,
    answers: { 200: endpointSchema },
    errors: ['endpoint_not_found', 'endpoint_invalid'],
    handle: async ({ core, params, body }) => {
      return { status: 200, body: endpointView(await core.endpoints.enable(params.id, body)) }
    },
  }),
  route({
    name: 'disableEndpoint',
    method: 'POST',
    path: '/endpoints/{id}/disable',
    summary: 'Sends nothing to an endpoint; its place stays',
    params: ofEndpoint,
    body: noFields,
    answers: { 200: endpointSchema },
    errors: ['endpoint_not_found'],
    handle: async ({ core, params }) => {
      return { status: 200, body: endpointView(await core.endpoints.disable(params.id)) }
    },
  }),
  route({
    name: 'replayEndpoint',
    method: 'POST',
    path: '/endpoints/{id}/replay',
    summary: 'Sends again what an endpoint has had, under the same ids',
    description: 'From `after`, the id of an event or `start`, or `since`, a time: one of both.',
    params: ofEndpoint,
    body: replayBody,
    answers: { 200: endpointSchema },
    errors: ['endpoint_not_found', 'query_invalid', 'cursor_invalid', 'cursor_unknown'],
    handle: async ({ core, params, body }) => {
      return { status: 200, body: endpointView(await core.endpoints.replay(params.id, body)) }
    },
  }),
  route({
    name: 'resendEvent',
    method: 'POST',
    path: '/endpoints/{id}/resend',
    summary: 'Sends one event to an endpoint again',
    params: ofEndpoint,
    body: resendBody,
    answers: { 202: z.strictObject({ message: z.string() }) },
    errors: ['endpoint_not_found', 'event_not_found', 'endpoint_invalid'],
    handle: async ({ core, params, body }) => {
      await core.endpoints.resend(params.id, body.eventId)
      return { status: 202, body: { message: 'the event is sent again' } }
    },
  }),
  route({
    name: 'testEndpoint',
    method: 'POST',
    path: '/endpoints/{id}/test',
    summary: 'Sends a signed `EndpointTest`, which is no event; answers what came back',
    params: ofEndpoint,
    body: noFields,
    answers: { 200: endpointTestSchema },
    errors: ['endpoint_not_found', 'encryption_key_missing'],
    handle: async ({ core, params }) => {
      return { status: 200, body: endpointTestView(await core.endpoints.test(params.id)) }
    },
  }),
  route({
    name: 'rotateEndpointSecret',
    method: 'POST',
    path: '/endpoints/{id}/rotate-secret',
    summary: 'Makes a new secret; for 24 hours the old one signs as well',
    description: 'It is answered this once.',
    params: ofEndpoint,
    body: noFields,
    answers: { 200: createdEndpointSchema },
    errors: ['endpoint_not_found', 'endpoint_declared', 'encryption_key_missing'],
    handle: async ({ core, params }) => {
      return {
        status: 200,
        body: createdEndpointView(await core.endpoints.rotateSecret(params.id)),
      }
    },
  }),
  route({
    name: 'listForwardAttempts',
    method: 'GET',
    path: '/endpoints/{id}/attempts',
    summary: 'Lists the requests to an endpoint, newest first',
    params: ofEndpoint,
    query: attemptsQuery,
    answers: { 200: pageSchema(forwardAttemptSchema) },
    errors: ['endpoint_not_found', ...listErrors],
    handle: async ({ core, params, query: asked, c }) => {
      const query = listQueryOf(core, attemptFilters, asked)
      const page = await core.endpoints.attempts(params.id, query)
      return { status: 200, body: pageView(page, (one) => attemptViewFor(c, one)) }
    },
  }),
  route({
    name: 'listForwards',
    method: 'GET',
    path: '/endpoints/{id}/forwards',
    summary: 'Lists events that did not go at first, or are sent again, newest first',
    params: ofEndpoint,
    query: forwardsQuery,
    answers: { 200: pageSchema(forwardSchema) },
    errors: ['endpoint_not_found', ...listErrors],
    handle: async ({ core, params, query: asked }) => {
      const query = listQueryOf(core, forwardFilters, asked)
      const page = await core.endpoints.forwards(params.id, query)
      return { status: 200, body: pageView(page, forwardView) }
    },
  }),
]

/** Whoever may only read sees no path of a URL: it may be as good as a password. */
function viewFor(c: Context, endpoint: Endpoint) {
  return endpointView(isReader(c) ? { ...endpoint, url: new URL(endpoint.url).origin } : endpoint)
}

/** What is answered may repeat the path. */
function attemptViewFor(c: Context, attempt: ForwardAttempt) {
  return forwardAttemptView(isReader(c) ? { ...attempt, response: null } : attempt)
}

function noSuchEndpoint(): QuittanceError {
  return new QuittanceError('endpoint_not_found', 'there is no endpoint of this name or id')
}
