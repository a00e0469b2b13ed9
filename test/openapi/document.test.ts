import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventTypes } from '../../src/events/catalogue.ts'
import { routes } from '../../src/http/api/management-api.ts'
import { read } from '../tidy/source-files.ts'
import { eventExamples, routeExamples } from './examples.ts'
import { openApiDocument } from './document.ts'
import { compile, schemaReader } from './json-schema.ts'
import type { Json } from './simplified.ts'

const document = openApiDocument()

interface Operation {
  readonly operationId: string
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> }
  readonly parameters?: readonly { readonly name: string; readonly schema: object }[]
  readonly responses: Readonly<Record<string, { readonly content?: unknown; $ref?: string }>>
}
type Items = Readonly<Record<string, Readonly<Record<string, Operation>>>>

/** Every object of a document, however deep, that the look picks. */
function found(value: unknown, look: (one: Json) => boolean): readonly Json[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap((one: unknown) => found(one, look))
  return !Array.isArray(value) && look(value as Json) ? [value as Json, ...inner] : inner
}

test('src/http/api/openapi.json is what the routes say (npm run openapi writes it)', () => {
  const file = JSON.parse(read('src/http/api/openapi.json')) as Json
  assert.equal(JSON.stringify(file, null, 1), JSON.stringify(document, null, 1))
})

test('it is an OpenAPI 3.1 document by the meta-schema of its authors (28)', () => {
  const meta = JSON.parse(read('test/openapi/openapi-3.1-schema.json')) as Json
  const fits = compile(meta)
  assert.ok(fits(document), JSON.stringify(fits.errors))
  for (const broken of [
    { ...document, openapi: '3.0.3' },
    { ...document, paths: { payments: {} } },
    { ...document, info: { title: 'Without a version' } },
  ]) {
    assert.ok(!fits(broken), 'the meta-schema takes anything')
  }
})

test('each of its schemas is a JSON Schema without an unknown word, and all references lead somewhere', () => {
  const read = schemaReader(document, { exact: false })
  const holders = found(document, (one) => 'schema' in one && typeof one['schema'] === 'object')
  for (const { schema } of holders) read(schema as object)
  const { schemas } = document['components'] as {
    readonly schemas: Readonly<Record<string, object>>
  }
  for (const schema of Object.values(schemas)) read(schema)
  for (const { $ref } of found(document, (one) => '$ref' in one)) {
    const [, ...path] = String($ref).split('/')
    const target = path.reduce<unknown>((at, name) => (at as Json | undefined)?.[name], document)
    assert.ok(typeof target === 'object' && target !== null, `${String($ref)} leads nowhere`)
  }
})

test('each named part is referred to', () => {
  const { schemas, responses } = document['components'] as Readonly<Record<string, Json>>
  const text = JSON.stringify(document)
  const unused = [
    ...Object.keys(schemas ?? {}).map((name) => `#/components/schemas/${name}`),
    ...Object.keys(responses ?? {}).map((name) => `#/components/responses/${name}`),
  ].filter((reference) => !text.includes(`"${reference}"`))
  assert.deepEqual(unused, [])
})

test('it has each route, under a name that no other has, and with each status it may answer', () => {
  const paths = document['paths'] as Items
  const listed = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId, responses }]) => ({
      route: `${method.toUpperCase()} ${path} ${operationId}`,
      done: Object.keys(responses).filter((status) => status.startsWith('2')),
    })),
  )
  assert.deepEqual(
    listed.toSorted((a, b) => (a.route < b.route ? -1 : 1)),
    routes
      .map(({ method, path, name, answers }) => ({
        route: `${method} ${path} ${name}`,
        done: Object.keys(answers),
      }))
      .toSorted((a, b) => (a.route < b.route ? -1 : 1)),
  )
  const names = routes.map(({ name }) => name)
  assert.deepEqual(names, [...new Set(names)])
})

test('its examples are requests that are read, and answers and events of their schemas', () => {
  const exact = schemaReader(document, { exact: true })
  const shown = found(document, (one) => 'schema' in one && 'example' in one)
  for (const { schema, example } of shown) {
    const fits = exact(schema as object)
    assert.ok(fits(example), JSON.stringify([example, fits.errors]))
  }
  const events = Object.keys(eventExamples).length
  const bodies = Object.entries(routeExamples).filter(([, { body }]) => body !== undefined)
  assert.equal(shown.length, Object.keys(routeExamples).length + bodies.length + events)
  for (const [name, { body }] of bodies) {
    const { read } = routes.find((route) => route.name === name)?.body ?? {}
    assert.doesNotThrow(() => read?.(body), name)
  }
})

test('it has a webhook for each type of event, whose body is of that type', () => {
  const webhooks = document['webhooks'] as Items
  assert.deepEqual(Object.keys(webhooks), [...eventTypes])
  const read = schemaReader(document, { exact: true })
  for (const [type, item] of Object.entries(webhooks)) {
    const schema = item['post']?.requestBody?.content['application/json']?.schema
    assert.ok(schema !== undefined)
    const fits = read(schema)
    const event = {
      id: '0199a000-0000-7000-8000-000000000001',
      type: 'PaymentSucceeded',
      timestamp: '2026-11-20T12:00:00.123Z',
      position: 1042,
      dedup_key: 'payment:paid:0199a000-0000-7000-8000-000000000002',
      source: 'call',
      superseded: false,
    }
    assert.ok(!fits({ ...event, data: {} }), `${type} may carry nothing`)
    const faults = new Set((fits.errors ?? []).map(({ instancePath }) => instancePath))
    assert.equal(faults.has('/type'), type !== 'PaymentSucceeded', type)
    assert.ok(faults.has('/data'), type)
  }
})
