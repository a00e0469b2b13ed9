import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { routes } from '../../src/http/api/management-api.ts'
import { apiToken } from '../http/service.ts'
import { read } from '../tidy/source-files.ts'
import { spoilt, valuesOf } from './arbitraries.ts'
import { schemaReader } from './json-schema.ts'
import type { Json } from './simplified.ts'
import { moods, openWorld, type Mood, type World } from './world.ts'

interface Answered {
  readonly description: string
  readonly content: Readonly<Record<string, { readonly schema: Json }>>
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>
  readonly 'x-codes'?: readonly string[]
}
interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required?: boolean
  readonly schema: Json
}
interface Operation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly required: boolean
    readonly content: { readonly 'application/json': { readonly schema: Json } }
  }
  readonly responses: Readonly<Record<string, Answered | { readonly $ref: string }>>
}

/** As it is shipped. */
const document = JSON.parse(read('src/http/api/openapi.json')) as Json
const schemaOf = schemaReader(document, { exact: false })
const exactSchemaOf = schemaReader(document, { exact: true })
const { responses } = document['components'] as {
  readonly responses: Readonly<Record<string, Answered>>
}

const operations = Object.entries(
  document['paths'] as Readonly<Record<string, Readonly<Record<string, Operation>>>>,
).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    ...operation,
    method: method.toUpperCase(),
    path,
  })),
)
type Route = (typeof operations)[number]

/** A request of the document, or one with a fault. */
interface Asked {
  readonly params: Readonly<Record<string, string>>
  readonly query: readonly (readonly [string, string])[]
  /** Undefined: none is sent. */
  readonly body: string | undefined
  readonly mood: Mood
}

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world[Symbol.asyncDispose]())

/** Which statuses each route has answered. */
const seen = new Map<string, Set<number>>()

/** What the document says of this answer. */
function answeredOf({ responses: own }: Route, status: number): Answered | undefined {
  const found = own[String(status)]
  if (found === undefined || !('$ref' in found)) return found
  return responses[found.$ref.split('/').at(-1) ?? '']
}

interface Refusable {
  readonly status: number
  /** The request and its answer. */
  readonly said: string
}

/** Sends it; fails if the answer is not as the document says. */
async function ask(route: Route, asked: Asked, token = apiToken): Promise<Refusable> {
  world.setMood(asked.mood)
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(asked.params[name] ?? ''),
  )
  const query = new URLSearchParams(asked.query.map(([name, value]) => [name, value]))
  const base = `${world.service.listening.url}/billing/api${path}`
  const answer = await fetch(asked.query.length === 0 ? base : `${base}?${query.toString()}`, {
    method: route.method,
    headers: { authorization: `Bearer ${token}` },
    ...(asked.body !== undefined && { body: asked.body }),
  })
  const [type = ''] = (answer.headers.get('content-type') ?? '').split(';')
  const text = await textOf(answer, type)
  const said = `${route.method} ${path}?${query.toString()} ${asked.body ?? ''}\n${answer.status} ${text}`
  const documented = answeredOf(route, answer.status)
  assert.ok(documented !== undefined, `this status is not documented: ${said}`)
  assert.notEqual(answer.status, 500, said)
  const form = documented.content[type]
  assert.ok(form !== undefined, `${type} is not documented: ${said}`)
  for (const [name, { required }] of Object.entries(documented.headers ?? {})) {
    assert.ok(required !== true || answer.headers.has(name), `${name} is missing: ${said}`)
  }
  if (type === 'application/json') assertBody(form.schema, { text, said, documented })
  seen.set(route.operationId, (seen.get(route.operationId) ?? new Set()).add(answer.status))
  return { status: answer.status, said }
}

/** A stream has no end: that it begins is all that is asked of it here. */
async function textOf(answer: Response, type: string): Promise<string> {
  if (type !== 'text/event-stream') return answer.text()
  await answer.body?.cancel()
  return ''
}

function assertBody(
  schema: Json,
  { text, said, documented }: { text: string; said: string; documented: Answered },
): void {
  const body = JSON.parse(text) as Json
  const fits = exactSchemaOf(schema)
  assert.ok(fits(body), `${JSON.stringify(fits.errors)}: ${said}`)
  const { code } = body
  if ('message' in body && typeof code === 'string') {
    assert.ok(documented['x-codes']?.includes(code), `the code is not documented: ${said}`)
  }
}

const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** Requests that the document allows. Ids are mostly of what there is. */
function requestsOf(route: Route): fc.Arbitrary<Asked> {
  const idsOf = (kind = '') => {
    const [first = 'none', ...others] = world.ids[kind] ?? []
    return fc.constantFrom(first, ...others)
  }
  const gateways = fc.constantFrom('fake', 'scripted', 'stripe', 'alpha')
  const values = valuesOf(document, {
    gateway: gateways,
    currency: fc.constantFrom('UAH', 'EUR', 'JPY'),
    payment_id: idsOf('payment'),
    payment_method_id: idsOf('payment_method'),
    subscription_id: idsOf('subscription'),
    return_url: fc.constant('https://shop.example/thanks'),
    plan: fc.constant('pro'),
    time_zone: fc.constant('Europe/Kyiv'),
    month: fc.constant('2026-11'),
  })
  const kinds: Readonly<Record<string, string>> = {
    payments: 'payment',
    'payment-methods': 'payment_method',
    subscriptions: 'subscription',
    invoices: 'invoice',
    'webhook-calls': 'call',
    reviews: 'review',
    runs: 'run',
  }
  const [, first = ''] = route.path.split('/')
  const known = idsOf(kinds[first])
  const { parameters = [], requestBody } = route
  const ofPath = parameters.filter((parameter) => parameter.in === 'path')
  const params = fc.record(
    Object.fromEntries(
      ofPath.map(({ name, schema }) => [
        name,
        fc.oneof(
          { arbitrary: known, weight: 4 },
          // Without an id it is the path of the list.
          { arbitrary: values(schema).map((one) => text(one) || '0'), weight: 1 },
        ),
      ]),
    ),
  )
  const ofQuery = parameters.filter((parameter) => parameter.in === 'query')
  const query = values({
    type: 'object',
    properties: Object.fromEntries(ofQuery.map(({ name, schema }) => [name, schema])),
    required: ofQuery.filter(({ required }) => required).map(({ name }) => name),
  }).map((given) => Object.entries(given as Json).map(([name, one]) => [name, text(one)] as const))
  const schema = requestBody?.content['application/json'].schema
  const body =
    schema === undefined
      ? fc.constant(undefined)
      : fc.option(values(schema).map(text), {
          nil: undefined,
          freq: requestBody?.required ? 1e9 : 4,
        })
  const mood = fc.oneof(
    { arbitrary: fc.constant('does_it' as const), weight: 3 },
    fc.constantFrom(...moods),
  )
  return fc.record({ params, query, body, mood })
}

// Made once, as they are needed for each request.
const odd = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
// A browser takes these out of a path.
const segment = odd.filter((one) => !/^\.{1,2}$/.test(one))
const junk = fc.constantFrom('{', '[]', 'null', '""', '{"id":1,"id":2}', '['.repeat(500), '\ufffe')

/** The same with faults: whoever writes a client makes them all. */
function faultyRequestsOf(route: Route): fc.Arbitrary<Asked> {
  return requestsOf(route).chain((asked) => {
    const spoiltBody =
      asked.body === undefined
        ? fc.constant('{"unknown":true}')
        : fc.oneof(
            junk,
            spoilt(JSON.parse(asked.body)).map((one) => JSON.stringify(one)),
          )
    const names = Object.keys(asked.params)
    return fc.oneof(
      ...(route.method === 'GET' ? [] : [spoiltBody.map((body) => ({ ...asked, body }))]),
      ...names.map((name) =>
        segment.map((one) => ({ ...asked, params: { ...asked.params, [name]: one } })),
      ),
      fc.tuple(odd, odd).map((pair) => ({ ...asked, query: [...asked.query, pair] })),
      odd.map((one) => ({
        ...asked,
        query: asked.query.map(([name], at) => [name, at === 0 ? one : ''] as const),
      })),
      fc.constant({ ...asked, query: [...asked.query, ...asked.query] }),
    )
  })
}

/** Whether JSON Schema finds a fault in the body: what the service must refuse then. */
function isRefused({ requestBody }: Route, { body }: Asked): boolean {
  if (body === undefined || requestBody === undefined) return false
  try {
    return !schemaOf(requestBody.content['application/json'].schema)(JSON.parse(body))
  } catch {
    return true
  }
}

/** What is said of a body that JSON Schema refuses too. */
const formFault =
  /unknown field|not JSON|given twice|must be (?:text of|a UUID|an object|a list|a whole|true or|one of|\{)/

const runs = { numRuns: 40, endOnFailure: true }

/** A request that a route does something with, where one that it allows may be refused. */
function examplesOf({ operationId, parameters = [] }: Route): [Asked][] {
  const example = world.done[operationId]
  if (example === undefined) return []
  const { id, body } = example
  const params = id === undefined || parameters.length === 0 ? {} : { id }
  return [[{ params, query: [], body: body && JSON.stringify(body), mood: 'does_it' }]]
}

describe('every route answers as the document says (28)', () => {
  for (const route of operations) {
    const name = `${route.method} ${route.path}`

    test(`${name}: what it allows`, async () => {
      await fc.assert(
        fc.asyncProperty(requestsOf(route), async (asked) => {
          const { status, said } = await ask(route, asked)
          if (status < 400) return
          // What the document says of a form is all that there is to know of it.
          assert.doesNotMatch(said, formFault)
        }),
        { ...runs, examples: examplesOf(route) },
      )
    })

    test(`${name}: what has a fault`, async () => {
      await fc.assert(
        fc.asyncProperty(faultyRequestsOf(route), async (asked) => {
          const { status } = await ask(route, asked)
          if (isRefused(route, asked)) {
            assert.ok(status >= 400, `it took what the document refuses: ${JSON.stringify(asked)}`)
          }
        }),
        runs,
      )
    })
  }

  test('without the token every route answers 401 or 429, as the document says', async () => {
    for (const route of operations) {
      const [asked] = fc.sample(requestsOf(route), { numRuns: 1 })
      assert.ok(asked !== undefined)
      const { status } = await ask(route, asked, 'wrong')
      assert.ok(status === 401 || status === 429, `${route.operationId}: ${status}`)
    }
  })

  test('the requests were not all refused: every route has done something', () => {
    const idle = routes.filter(
      ({ name }) => !Array.from(seen.get(name) ?? []).some((one) => one < 300),
    )
    assert.deepEqual(
      idle.map(({ name }) => name),
      [],
    )
  })
})
