import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { IncomingMessage, request } from 'node:http'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Hono, MiddlewareHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { createApp } from '../../src/http/app.ts'
import { listen } from '../../src/http/serve.ts'
import { throttle } from '../../src/http/throttle.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { startLocalService } from '../support/local-service.ts'
import { sessionEvent, signedHeaders } from '../support/stripe-callbacks.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { fakeCallback, maxBodyBytes, order, signingSecret, startService } from './service.ts'
import type { Service } from './service.ts'

let service: Service
before(async () => {
  service = await startService({ work: false })
})
after(() => service[Symbol.asyncDispose]())

const stripePath = '/billing/webhooks/stripe'

function appWith(...webhookMiddleware: readonly MiddlewareHandler[]): Hono {
  return createApp(service.core, {
    apiToken: undefined,
    readToken: undefined,
    maxBodyBytes,
    webhookMiddleware,
    log: service.log,
  })
}

interface Sent {
  readonly path?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

interface Reply {
  readonly status: number
  readonly retryAfter: number
  readonly body: string
}

/** The app behind the real server on a free port. */
async function serve(...middleware: readonly MiddlewareHandler[]) {
  const listening = await listen(appWith(...middleware), {
    host: '127.0.0.1',
    port: 0,
    log: service.log,
  })
  const post = ({ path = stripePath, body = '{}', headers = {} }: Sent) =>
    new Promise<Reply>((resolve, reject) => {
      const outgoing = request(`${listening.url}${path}`, { method: 'POST', headers }, (answer) => {
        let text = ''
        answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            retryAfter: Number(answer.headers['retry-after']),
            body: text,
          }),
        )
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  return {
    url: listening.url,
    post,
    statuses: async (...calls: readonly Sent[]) => {
      const statuses: number[] = []
      for (const call of calls) statuses.push((await post(call)).status)
      return statuses
    },
    [Symbol.asyncDispose]: () => listening.close(1_000),
  }
}

const forged: Sent = { headers: { 'stripe-signature': 't=1,v1=00' } }

async function signed(): Promise<Sent & { readonly body: string }> {
  const payment = await service.core.payments.create({
    ...order,
    gateway: 'stripe',
    checkout: false,
  })
  const body = JSON.stringify(sessionEvent({ payment }))
  return { body, headers: signedHeaders(body, signingSecret) }
}

const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item)
const countOf = (replies: readonly Reply[], status: number) =>
  replies.filter((reply) => reply.status === status).length

describe('throttle', () => {
  test('valid callbacks among many forged ones of the same address are all taken', async () => {
    await using server = await serve(throttle('10 per minute'))
    const valid = await Promise.all(times(60, undefined).map(() => signed()))
    const [taken, refused] = await Promise.all([
      Promise.all(valid.map((call) => server.post(call))),
      Promise.all(times(200, forged).map((call) => server.post(call))),
    ])
    assert.equal(countOf(taken, 200), 60)
    assert.equal(countOf(refused, 403), 10)
    assert.equal(countOf(refused, 429), 190)
    // Used up: still neither counted nor refused.
    assert.equal((await server.post(await signed())).status, 200)
  })

  test('a 429 says so, and after how many seconds the next try makes sense', async () => {
    await using server = await serve(throttle('1 per minute'))
    assert.deepEqual(await server.statuses(forged), [403])
    const { status, retryAfter, body } = await server.post(forged)
    assert.equal(status, 429)
    assert.deepEqual(JSON.parse(body), { message: 'too many requests' })
    assert.ok(retryAfter >= 1 && retryAfter <= 60, `${retryAfter} s`)
  })

  test('every refusal counts: 404, 403, 415, 413 and 422', async () => {
    await using server = await serve(throttle('5 per hour'))
    const refusals: readonly Sent[] = [
      { path: '/billing/webhooks/paypal' },
      forged,
      { headers: { 'content-encoding': 'gzip' } },
      {
        headers: { 'content-length': String(maxBodyBytes + 1) },
        body: 'x'.repeat(maxBodyBytes + 1),
      },
      { path: '/billing/webhooks/fake', body: '{}' },
    ]
    assert.deepEqual(await server.statuses(...refusals), [404, 403, 415, 413, 422])
    assert.deepEqual(await server.statuses(...refusals), times(5, 429))
  })

  test('valid callbacks, other routes, other methods and 5xx answers do not count', async () => {
    let broken = true
    const failing: MiddlewareHandler = (c, next) =>
      broken ? Promise.resolve(c.text('down', 503)) : next()
    await using server = await serve(throttle('1 per day'), failing)
    assert.deepEqual(await server.statuses(forged, forged, forged), [503, 503, 503])
    broken = false
    assert.deepEqual(await server.statuses(await signed(), await signed()), [200, 200])
    for (const path of [stripePath, '/healthz', '/nope']) await fetch(server.url + path)
    assert.deepEqual(await server.statuses(forged, forged), [403, 429])
  })

  test('what another middleware throws counts as what it is', async () => {
    const strict: MiddlewareHandler = (c) => {
      throw new HTTPException(c.req.header('x-broken') === undefined ? 401 : 500, { message: 'no' })
    }
    await using server = await serve(throttle('2 per minute'), strict)
    const broken = { headers: { 'x-broken': '1' } }
    assert.deepEqual(await server.statuses(broken, broken, broken), [500, 500, 500])
    assert.deepEqual(await server.statuses({}, {}, {}, broken), [401, 401, 429, 500])
  })

  test('with count: every_call also valid callbacks count, and nothing is read of the rest', async () => {
    await using server = await serve(throttle('3 per minute', { count: 'every_call' }))
    const stored = async () => (await service.core.calls.list({ limit: 100 })).data.length
    const before = await stored()
    const calls = [await signed(), await signed(), forged, await signed(), forged]
    assert.deepEqual(await server.statuses(...calls), [200, 200, 403, 429, 429])
    assert.equal((await stored()) - before, 2)
  })

  test('behind a proxy, `sender` names the client', async () => {
    const sender: MiddlewareHandler = throttle('1 per minute', {
      sender: (c) => c.req.header('x-forwarded-for') ?? '',
    })
    await using server = await serve(sender)
    const of = (client: string): Sent => ({ headers: { 'x-forwarded-for': client } })
    const calls = [of('192.0.2.1'), of('192.0.2.1'), of('192.0.2.2')]
    assert.deepEqual(await server.statuses(...calls), [403, 429, 403])
  })
})

/** Asks an app as if the connection came from this address. */
async function askFrom(app: Hono, address: string | undefined): Promise<number> {
  if (address === undefined) return (await app.request(stripePath, { method: 'POST' })).status
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: address })
  const env = { incoming: new IncomingMessage(socket) }
  return (await app.request(stripePath, { method: 'POST' }, env)).status
}

for (const [what, first, second, shared] of [
  ['two addresses', '192.0.2.7', '192.0.2.8', false],
  ['two addresses of one IPv6 /64', '2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true],
  ['addresses of two IPv6 networks', '2001:db8:1:2::1', '2001:db8:1:3::1', false],
  ['networks that differ behind a `::`', '2001:db8::1', '2001:db8:0:1::1', false],
  ['a link-local address on two interfaces', 'fe80::1%eth0', 'fe80::1%eth1', true],
  ['an IPv4 address and its mapped form', '192.0.2.7', '::ffff:192.0.2.7', true],
  ['two mapped IPv4 addresses', '::ffff:192.0.2.7', '::ffff:192.0.2.8', false],
  ['calls without a known address', undefined, undefined, true],
] as const) {
  test(`throttle: ${what} ${shared ? 'share one budget' : 'have two budgets'}`, async () => {
    const app = appWith(throttle('1 per minute'))
    assert.equal(await askFrom(app, first), 403)
    assert.equal(await askFrom(app, second), shared ? 429 : 403)
  })
}

for (const rate of ['60 per minute', '1 per second', '5 per hours', '7/day', ' 60 PER 1 minute ']) {
  test(`throttle takes the rate ${JSON.stringify(rate)}`, () => {
    assert.doesNotThrow(() => throttle(rate))
  })
}

for (const rate of [
  '',
  '60',
  'minute',
  '0 per minute',
  '-1 per day',
  '1.5 per hour',
  '9 per week',
]) {
  test(`throttle refuses the rate ${JSON.stringify(rate)} when it is made`, () => {
    assert.throws(() => throttle(rate), { code: 'setting_invalid', message: /60 per minute/ })
  })
}

describe('middleware that reads the body', () => {
  for (const [read, status] of [
    ['arrayBuffer', 200],
    ['blob', 500],
    ['json', 500],
    ['text', 500],
  ] as const) {
    test(`through Hono as ${read}: the callback is answered ${status}`, async () => {
      await using server = await serve(async (c, next) => {
        await c.req[read]()
        await next()
      })
      assert.equal((await server.post(await signed())).status, status)
    })
  }
})

test('serve takes throttle from quittance.config, for the webhook route alone', async () => {
  using folder = temporaryFolder()
  const library = new URL('../../src/index.ts', import.meta.url).href
  writeFileSync(
    join(folder.path, 'quittance.config.ts'),
    `import { defineConfig, throttle } from ${JSON.stringify(library)}
export default defineConfig({ webhook: { middleware: [throttle('3 per minute')] } })
`,
  )
  fillDataFolder(join(folder.path, '.quittance'))
  const running = await startLocalService({
    cwd: folder.path,
    env: { STRIPE_SIGNING_SECRET: signingSecret },
  })
  const post = async (path: string, { body = '{}', headers = {} }: Sent = {}) =>
    (await fetch(running.url + path, { method: 'POST', body, headers })).status
  const statuses: number[] = []
  for (const call of times(5, forged)) statuses.push(await post(stripePath, call))
  assert.deepEqual(statuses, [403, 403, 403, 429, 429])
  assert.equal(await post(stripePath, await signed()), 200)
  const anybody = { id: '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e01' }
  assert.equal(await post('/billing/webhooks/fake', { body: fakeCallback(anybody) }), 200)
  assert.equal((await fetch(`${running.url}/readyz`)).status, 200)
  await running.stop()
})
