import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiOverride,
  type ZodOpenApiPathItemObject,
  type ZodOpenApiResponseObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi'
import { z } from 'zod'
import { eventTypes, type EventType } from '../../src/events/catalogue.ts'
import { statuses } from '../../src/http/api/errors.ts'
import type { AnswerForms, BodyForm, Route } from '../../src/http/api/route.ts'
import { routes } from '../../src/http/api/management-api.ts'
import { outgoingEventSchema } from '../../src/wire/outgoing-event.ts'
import { read } from '../tidy/source-files.ts'
import { capitalised, components, everywhere, queries } from './components.ts'
import { commentOfEvent, docCommentsOf, type DocComments } from './doc-comments.ts'
import { eventExamples, routeExamples } from './examples.ts'
import { simplified, type Json } from './simplified.ts'

const { version } = JSON.parse(read('package.json')) as { readonly version: string }

const description = `Payments, refunds, saved cards, subscriptions, usage, invoices and events of one service.

- Amounts are whole numbers of minor units: \`1999\` is 19.99 EUR. Times are ISO 8601 in UTC.
- Lists are newest first. \`next_cursor\` is the \`cursor\` of the next page; null: that was the last.
- What creates something takes an \`id\` of yours, a UUID: repeated with the same content, it makes
  nothing twice.
- Answers may have more fields in a later version: ignore those that you do not know.
- An error has a \`message\` for people and, where there is one, a stable \`code\`. \`x-codes\` lists the
  codes of an answer. \`field\` names the field that is at fault.`

/** What any answer to a mistake or a failure is. */
const problem = z
  .strictObject({
    message: z.string().describe('What is wrong, for people. The wording may change.'),
    code: z.string().optional().describe('Stable: what a program goes by.'),
    request_id: z
      .string()
      .optional()
      .describe('Of a failure of the service: what its log says of the request.'),
    field: z
      .string()
      .optional()
      .describe('The field of the request that is at fault: `amount`, `payable.id`.'),
    provider_code: z.string().optional().describe('The word of the provider for it.'),
  })
  .meta({ id: 'Error', description: 'Why something was not done.' })

const retryAfter = z.object({ 'retry-after': z.string().describe('Seconds to wait.') })

/** What any route may answer. */
const common = {
  400: { id: 'BadRequest', ...problemOf('The request cannot be read.') },
  401: { id: 'Unauthorized', ...problemOf('The bearer token is missing or wrong.') },
  403: { id: 'Forbidden', ...problemOf('Whoever asks may not do this.') },
  429: {
    id: 'TooManyRequests',
    ...problemOf('Too many requests without the token.'),
    headers: retryAfter,
  },
  500: {
    id: 'InternalError',
    ...problemOf('Something failed unexpectedly; the log of the service says what.'),
  },
  503: {
    id: 'Unavailable',
    ...problemOf('The database does not answer, or this process lacks a listener.', [
      'listener_missing',
    ]),
    headers: retryAfter,
  },
} as const

/** What one that reads a body may answer, too. */
const ofBodies = {
  413: { id: 'BodyTooLarge', ...problemOf('The body is too large.') },
  422: { id: 'Unprocessable', ...problemOf('A field is not allowed.') },
} as const

const meanings: Readonly<Record<number, string>> = {
  400: 'The request cannot be read, or its query is not allowed.',
  404: 'There is no such thing.',
  409: 'How it stands does not allow this.',
  410: 'The feed has no such event, so the database was restored: read on from a time, with `since`.',
  422: 'A field is missing or not allowed, or the gateway cannot do this.',
  502: 'The provider refused, or sent nothing readable.',
  503: 'It cannot be done now.',
  504: 'The provider did not answer. It is asked again later: ask for nothing twice.',
}

function problemOf(text: string, codes: readonly string[] = []): ZodOpenApiResponseObject {
  const named = codes.length === 0 ? '' : ` ${codes.map((code) => `\`${code}\``).join(', ')}`
  return {
    description: text + named,
    content: { 'application/json': { schema: problem } },
    ...(codes.length > 0 && { 'x-codes': codes }),
  }
}

/** The document of the management API and of the events that go out: plain JSON. */
export function openApiDocument(): Json {
  for (const [id, { schema }] of Object.entries(components)) {
    schema.register(z.globalRegistry, { ...schema.meta(), id })
  }
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Quittance',
        version,
        description,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/billing/api' }],
      security: [{ token: [] }],
      tags: [...new Set(routes.map(tagOf))].map((name) => ({ name })),
      paths: paths(),
      webhooks: Object.fromEntries(eventTypes.map((type) => [type, webhook(type)])),
      components: {
        securitySchemes: {
          token: {
            type: 'http',
            scheme: 'bearer',
            description:
              'BILLING_API_TOKEN, or the token of an operator; BILLING_READ_TOKEN and viewers only read.',
          },
        },
      },
    },
    { override },
  )
  const plain = JSON.parse(JSON.stringify(document)) as Documented
  for (const { post } of Object.values(plain.webhooks)) asSent(post)
  return described(simplified({ ...plain }))
}

function isInJson(schema: unknown): boolean {
  return !(schema instanceof z.ZodBigInt || schema instanceof z.ZodDate)
}

/** In answers more fields may come; where we read, an unknown one is a mistake. */
const override: ZodOpenApiOverride = ({ jsonSchema, zodSchema, io }) => {
  if (zodSchema instanceof z.ZodUnion && jsonSchema.anyOf !== undefined) {
    const { options } = zodSchema
    jsonSchema.anyOf = jsonSchema.anyOf.filter((_choice, place) => isInJson(options[place]))
  }
  if (io === 'output' && jsonSchema.additionalProperties === false) {
    delete jsonSchema.additionalProperties
  }
}

function paths(): Record<string, ZodOpenApiPathItemObject> {
  const byPath = Map.groupBy(routes, ({ path }) => path)
  const items = [...byPath].map(([path, ofPath]) => {
    const operations = ofPath.map((route) => [route.method.toLowerCase(), operation(route)])
    return [path, Object.fromEntries(operations) as ZodOpenApiPathItemObject]
  })
  return Object.fromEntries(items) as Record<string, ZodOpenApiPathItemObject>
}

/** `Payment methods` of `/payment-methods/{id}`. */
function tagOf({ path }: Route): string {
  const [, first = ''] = path.split('/')
  return capitalised(first.replaceAll('-', ' '))
}

function operation(route: Route): ZodOpenApiOperationObject {
  const { name, summary, description: more, params, query, body } = route
  return {
    operationId: name,
    tags: [tagOf(route)],
    summary,
    ...(more !== undefined && { description: more }),
    ...((params !== undefined || query !== undefined) && {
      requestParams: {
        ...(params !== undefined && { path: z.object(params) }),
        ...(query !== undefined && { query: query as z.ZodObject }),
      },
    }),
    ...(body !== undefined && hasFields(body) && { requestBody: requestBody(body, name) }),
    responses: { ...answersOf(route.answers, name), ...refusals(route) },
  }
}

function hasFields({ schema }: BodyForm<unknown>): boolean {
  return !(schema instanceof z.ZodObject) || Object.keys(schema.shape).length > 0
}

function requestBody({ schema, mayBeEmpty }: BodyForm<unknown>, name: string) {
  const required = mayBeEmpty !== true || !schema.safeParse({}).success
  const example = routeExamples[name]?.body
  return { required, content: { 'application/json': { schema, ...(example && { example }) } } }
}

function answersOf(forms: AnswerForms, name: string): ZodOpenApiResponsesObject {
  const example = routeExamples[name]?.answer
  const answers = Object.entries(forms).map(([status, form]) => {
    const content =
      form instanceof z.ZodType
        ? { 'application/json': { schema: form, ...(example && { example }) } }
        : Object.fromEntries(
            Object.entries(form.text).map(([type, text]) => [
              type.split(';')[0],
              { schema: { type: 'string', description: text } },
            ]),
          )
    return [status, { description: status === '201' ? 'Created' : 'Done', content }]
  })
  return Object.fromEntries(answers) as ZodOpenApiResponsesObject
}

function refusals({ errors = [], body }: Route): ZodOpenApiResponsesObject {
  const byStatus = Map.groupBy(errors, (code) => statuses[code])
  const own = [...byStatus].map(([status, codes]) => {
    const all = status === 503 ? [...codes, 'listener_missing'] : codes
    const headers = status === 503 && { headers: retryAfter }
    return [status, { ...problemOf(meanings[status] ?? '', all), ...headers }] as const
  })
  return {
    ...common,
    ...(body !== undefined && ofBodies),
    ...Object.fromEntries(own),
  }
}

function webhook(type: EventType): ZodOpenApiPathItemObject {
  const eventSchema = outgoingEventSchema(type).meta({ id: `${type}Event` })
  const example = eventExamples[type]?.toJSON()
  return {
    post: {
      operationId: `on${type}`,
      summary: commentOfEvent(type),
      security: [],
      // What goes out is made as answers are; `asSent` puts it where it belongs.
      responses: {
        '2XX': {
          description: 'Taken: it is not sent again.',
          content: { 'application/json': { schema: eventSchema, ...(example && { example }) } },
        },
      },
    },
  }
}

interface Described {
  description?: string
}
interface Parameter extends Described {
  readonly name: string
  readonly schema: Described
}
interface Webhook {
  requestBody?: { readonly required: boolean; readonly content: unknown }
  readonly responses: { readonly '2XX': { content?: unknown } }
}
interface Documented {
  readonly webhooks: Readonly<Record<string, { readonly post: Webhook }>>
  readonly paths: Record<string, Record<string, { operationId: string; parameters?: Parameter[] }>>
  readonly components: {
    readonly schemas: Record<string, Described & { properties?: Record<string, Described> }>
  }
}

function asSent(operation: Webhook): void {
  const taken = operation.responses['2XX']
  operation.requestBody = { required: true, content: taken.content }
  delete taken.content
}

/** Says of each named part, and of each parameter, what the doc comments of the code say. */
function described(document: Json): Json {
  const { paths: items, components: parts } = document as unknown as Documented
  for (const [name, { from }] of Object.entries(components)) {
    const comments = from.map(docCommentsOf)
    const schema = parts.schemas[name] ?? {}
    describe(schema, comments[0]?.whole)
    for (const [field, property] of Object.entries(schema.properties ?? {})) {
      describe(property, saidOf(field, comments))
    }
  }
  for (const { operationId, parameters = [] } of Object.values(items).flatMap(Object.values)) {
    const comments = (queries[operationId] ?? []).map(docCommentsOf)
    for (const parameter of parameters) {
      // What a query says of itself comes first; it is written in our words, not as JSON Schema.
      describe(parameter, parameter.schema.description ?? saidOf(parameter.name, comments))
      delete parameter.schema.description
    }
  }
  return document
}

function describe(part: Described, said: string | undefined): void {
  if (said !== undefined) part.description ??= said
}

function saidOf(field: string, comments: readonly DocComments[]): string | undefined {
  const said = comments.map(({ fields }) => fields.get(field))
  return said.find((one) => one !== undefined) ?? everywhere[field]
}
