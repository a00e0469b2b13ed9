import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { routes } from '../../src/http/api/management-api.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { openWorld, type World } from '../openapi/world.ts'
import { read } from '../tidy/source-files.ts'

// What holds for every noun of the management API: its list, its filters and pages, its rows, and
// what is answered where there is none. What is special of a noun: in the file of its own.

type Json = Record<string, unknown>
interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly schema: {
    readonly type?: string
    readonly enum?: readonly string[]
    readonly format?: string
    readonly maximum?: number
  }
}
interface Operation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
}

const { paths } = JSON.parse(read('src/http/api/openapi.json')) as {
  readonly paths: Readonly<Record<string, { readonly get?: Operation }>>
}

/** Every list that has pages, with what it may be asked. */
const lists = Object.entries(paths).flatMap(([path, { get }]) => {
  const query = get?.parameters?.filter((parameter) => parameter.in === 'query') ?? []
  const isPaged = query.some(({ name }) => name === 'cursor')
  return get === undefined || !isPaged || path.startsWith('/search') ? [] : [{ path, query }]
})
const ofNouns = lists.filter(({ path }) => !path.includes('{'))

const codes: Readonly<Record<string, string>> = {
  payments: 'payment_not_found',
  'payment-methods': 'payment_method_not_found',
  subscriptions: 'subscription_not_found',
  invoices: 'invoice_not_found',
  'webhook-calls': 'call_not_found',
  reviews: 'review_not_found',
  runs: 'run_not_found',
  events: 'event_not_found',
  endpoints: 'endpoint_not_found',
}

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world[Symbol.asyncDispose]())

const ask = async (path: string, init: RequestInit = {}) => {
  const { service, done } = world
  const answer = await service.api(path.replace('{id}', done['getEndpoint']?.id ?? ''), init)
  const text = await answer.text()
  const body = (text === '' ? {} : JSON.parse(text)) as Json
  return { status: answer.status, allow: answer.headers.get('allow'), body }
}
const rowsOf = async (path: string, query: Readonly<Record<string, string>> = {}) => {
  const asked = new URLSearchParams({ limit: '100', ...query }).toString()
  const { status, body } = await ask(`${path}?${asked}`)
  assert.equal(status, 200, `${path}?${asked}`)
  return { rows: body['data'] as readonly Json[], next: body['next_cursor'] }
}
const idsOf = (rows: readonly Json[]) => rows.map(({ id }) => String(id))

describe('a list', () => {
  for (const { path, query } of lists) {
    test(`${path} names what is wrong with a query`, async () => {
      const most = query.find(({ name }) => name === 'limit')?.schema.maximum ?? 0
      const limitRule = new RegExp(`^limit must be a whole number from 1 to ${most}$`)
      const rows: (readonly [string, RegExp])[] = [
        ...['0', '1e9', `${most + 1}`, 'x'].map((limit) => [`limit=${limit}`, limitRule] as const),
        ['sort=password', /^unknown field "sort"; there are /],
        ['limit=1&limit=2', /^a query parameter is given twice$/],
        ...query.flatMap(({ name, schema }) => wrongFor(name, schema)),
      ]
      for (const [asked, message] of rows) {
        const { status, body } = await ask(`${path}?${asked}`)
        assert.equal(status, 400, asked)
        assert.match(String(body['message']), message, asked)
        assert.equal(body['field'], asked.split('=')[0], asked)
      }
      const { status, body } = await ask(`${path}?cursor=bm90aGluZw`)
      assert.deepEqual([status, body['code']], [400, 'cursor_invalid'])
    })
  }

  for (const { path } of ofNouns) {
    test(`${path} has each row once on its pages, the newest first`, async () => {
      const { rows } = await rowsOf(path)
      assert.ok(rows.length > 0)
      const seen: Json[] = []
      let cursor: unknown
      do {
        const page = await rowsOf(path, {
          limit: '1',
          ...(typeof cursor === 'string' && { cursor }),
        })
        assert.ok(page.rows.length <= 1)
        seen.push(...page.rows)
        cursor = page.next
      } while (typeof cursor === 'string')
      assert.deepEqual(idsOf(seen), idsOf(rows))
      assert.deepEqual(idsOf(rows), idsOf(rows).toSorted().toReversed())
    })
  }
})

/** What a field of a query may not say, and what is answered. */
function wrongFor(
  name: string,
  { enum: words, format, type }: Parameter['schema'],
): readonly (readonly [string, RegExp])[] {
  if (words !== undefined) {
    return [[`${name}=done`, new RegExp(`^${name} must be one of ${words.join(', ')}$`)]]
  }
  if (type === 'boolean') return [[`${name}=1`, new RegExp(`^${name} must be one of true, false$`)]]
  if (format === 'uuid') return [[`${name}=1`, new RegExp(`^${name} must be a UUID$`)]]
  if (name === 'payable') return [['payable=order', /^payable must be type:id, such as order:42$/]]
  return []
}

/** What rows say of themselves, so that what a filter finds can be compared with it. */
const filters: Readonly<Record<string, readonly string[]>> = {
  '/payments': ['gateway', 'status', 'payable'],
  '/payment-methods': ['payment_id', 'gateway', 'status'],
  '/subscriptions': ['gateway', 'status', 'managed_by', 'payable'],
  '/invoices': ['payable', 'subscription_id', 'payment_id', 'status', 'series'],
  '/webhook-calls': ['state', 'gateway', 'needs_review', 'payment_id'],
  '/reviews': ['state', 'reason', 'gateway', 'payment_id'],
  '/events': ['type', 'payment_id', 'subscription_id'],
}

describe('the rows of a list', () => {
  for (const { path, query } of ofNouns) {
    test(`${path}: a filter finds the rows that say so, and no other`, async () => {
      const { rows } = await rowsOf(path)
      const tried: string[] = []
      for (const { name, schema } of query) {
        const row = rows.find((one) => wordOf(one[name]) !== undefined)
        const word = wordOf(row?.[name])
        if (row === undefined || word === undefined) continue
        const found = await rowsOf(path, { [name]: word })
        const fitting = rows.filter((one) => wordOf(one[name]) === word)
        assert.deepEqual(idsOf(found.rows), idsOf(fitting), `${name}=${word}`)
        for (const other of schema.enum?.filter((one) => one !== word) ?? []) {
          const { rows: others } = await rowsOf(path, { [name]: other })
          assert.ok(!idsOf(others).includes(String(row['id'])), `${name}=${other}`)
        }
        tried.push(name)
      }
      assert.deepEqual(tried, filters[path] ?? [])
    })

    test(`${path}: each is shown by its id`, async () => {
      const { rows } = await rowsOf(path)
      for (const row of rows) {
        const { status, body } = await ask(`${path}/${String(row['id'])}`)
        assert.equal(status, 200)
        for (const [field, value] of Object.entries(row)) {
          assert.deepEqual(asTold(body[field]), asTold(value), `${field} of ${String(row['id'])}`)
        }
      }
    })
  }
})

/** As a query says it. */
function wordOf(value: unknown): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'object' || value === null) return undefined
  const { type, id } = value as Json
  return typeof type === 'string' && typeof id === 'string' ? `${type}:${id}` : undefined
}

describe('what is not there', () => {
  for (const { method, path, name } of routes.filter(({ path }) => path.includes('{id}'))) {
    test(`${method} ${path} answers 404, whether the id is well-formed or not`, async () => {
      const [, noun = ''] = path.split('/')
      const body = world.done[name]?.body
      for (const id of [newUuid(), 'x', '%00', '..%2f']) {
        const answer = await ask(path.replace('{id}', id), {
          method,
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        assert.deepEqual([answer.status, answer.body['code']], [404, codes[noun]], id)
      }
    })
  }

  for (const [path, ofPath] of Map.groupBy(routes, (route) => route.path)) {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
    const own = methods.filter((method) => ofPath.some((route) => route.method === method))
    test(`${path} answers 405 to what is not one of ${own.join(', ')}`, async () => {
      const allowed = own.map((method) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ')
      for (const method of methods.filter((one) => !own.includes(one))) {
        const { status, allow } = await ask(path.replace('{id}', 'x'), { method })
        assert.deepEqual([status, allow], [405, allowed], method)
      }
    })
  }
})

/** Without when it stood so: that is as of now. */
function asTold(value: unknown): unknown {
  return JSON.parse(JSON.stringify({ value }), (name, one: unknown) =>
    name === 'as_of' ? undefined : one,
  ) as unknown
}
