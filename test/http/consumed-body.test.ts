import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { after, before, test } from 'node:test'
import { receivedCalls } from '../support/billing.ts'
import { getRequestListener } from '@hono/node-server'
import express, { type RequestHandler } from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import { createBilling } from '../../src/create-billing.ts'
import { nodeHandler } from '../../src/http/node-handler.ts'
import { assertFailed } from './answers.ts'
import { embed, listenWith, type Embedded, type HostApp } from './host-apps.ts'
import { fakeCallback, order } from './service.ts'

const path = '/billing/webhooks/fake'

let host: Embedded
let body: string
before(async () => {
  host = await embed()
  body = fakeCallback(await host.billing.payments.create(order))
})
after(() => host[Symbol.asyncDispose]())

const newRequest = () => new Request(`http://localhost${path}`, { method: 'POST', body })

const sendingTo = (app: HostApp) => (type: string, sent?: ReadableStream) =>
  fetch(app.url + path, {
    method: 'POST',
    headers: { 'content-type': type },
    body: sent ?? body,
    duplex: 'half',
  })

/** The answer is 500, nothing is stored, and the log says what to move. */
async function isUnreadable(answer: Response, fix: RegExp): Promise<void> {
  await assertFailed(answer, host.logged)
  assert.deepEqual(await payloadsOf(body), [])
  const { level, msg } = JSON.parse(host.logged.at(-1) ?? '{}') as { level: number; msg: string }
  assert.equal(level, 50)
  assert.match(msg, /read before it got here/)
  assert.match(msg, fix)
}

/** The payloads of the stored calls, newest first, that are this text but for white space. */
async function payloadsOf(text: string): Promise<readonly string[]> {
  const calls = await receivedCalls(host.billing, { limit: 100 })
  const payloads = calls.flatMap(({ payload }) => payload ?? [])
  return payloads.filter((payload) => payload.trim() === text.trim())
}

function behind(...parsers: readonly RequestHandler[]) {
  const app = express()
  for (const parser of parsers) app.use(parser)
  return listenWith(app.use(nodeHandler(host.billing)))
}

for (const [name, parser, type] of [
  ['json', express.json(), 'application/json'],
  ['urlencoded', express.urlencoded(), 'application/x-www-form-urlencoded'],
  ['text', express.text(), 'text/plain'],
] as const) {
  test(`behind express.${name}(): move it below`, async () => {
    await using app = await behind(parser)
    const send = sendingTo(app)
    const fix = /move app\.use\(express\.json\(\)\).* below the line that mounts Quittance/
    await isUnreadable(await send(type), fix)
    await isUnreadable(await send(type, new Blob([body]).stream()), fix)
  })
}

test('behind Fastify’s own parsers: a plugin without them', async () => {
  await using app = fastify()
  const handle = nodeHandler(host.billing)
  app.all('/billing/webhooks/:gateway', (request, reply) => {
    reply.hijack()
    handle(request.raw, reply.raw)
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  await isUnreadable(answer, /in Fastify .*scope\.removeAllContentTypeParsers\(\)/)
})

test('behind Hono middleware that reads: move it below', async () => {
  const app = new Hono()
    .use(async (c, next) => {
      await c.req.json()
      await next()
    })
    .all('*', (c) => host.billing.fetch(c.req.raw, c.env))
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  await using served = await listenWith((incoming, outgoing) => void listener(incoming, outgoing))
  const fix = /move the Hono middleware that reads the body/
  await isUnreadable(await sendingTo(served)('application/json'), fix)
})

test('a web request that was read: hand it over first', async () => {
  const request = newRequest()
  await request.json()
  await isUnreadable(await host.billing.fetch(request), /call billing\.fetch\(request\) before/)
})

test('webhook.middleware that reads text: read the bytes', async () => {
  await using reading = await embed({
    database: { memory: true },
    webhook: {
      middleware: [
        async (c, next) => {
          await c.req.text()
          await next()
        },
      ],
    },
  })
  assert.equal((await reading.billing.fetch(newRequest())).status, 500)
  assert.match(reading.logged.at(-1) ?? '', /read the body by c\.req\.arrayBuffer\(\)/)
})

test('a parser that skipped this content type has taken nothing', async () => {
  const app = express().use(express.json(), express.text(), nodeHandler(host.billing))
  await using served = await listenWith(app)
  const sent = fakeCallback(await host.billing.payments.create(order))
  const answer = await fetch(served.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: sent,
  })
  assert.equal(answer.status, 200)
  assert.deepEqual(await payloadsOf(sent), [sent])
})

test('exact bytes that the platform kept as rawBody are used', async () => {
  const keep = (request: IncomingMessage, _response: unknown, bytes: Buffer) =>
    void Object.assign(request, { rawBody: bytes })
  const app = express().use(express.json({ verify: keep }), nodeHandler(host.billing))
  await using served = await listenWith(app)
  const text = ` ${fakeCallback(await host.billing.payments.create(order))}\n`
  for (const sent of [text, new Blob([text]).stream()]) {
    const answer = await fetch(served.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: sent,
      duplex: 'half',
    })
    assert.equal(answer.status, 200)
  }
  assert.deepEqual(await payloadsOf(text), [text, text])
})

test('the exact bytes that express.raw() keeps are used', async () => {
  const app = express().use(express.raw({ type: '*/*' }), nodeHandler(host.billing))
  await using served = await listenWith(app)
  const text = ` ${fakeCallback(await host.billing.payments.create(order))}\n`
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(served.url + path, { method: 'POST', headers, body: text })
  assert.equal(answer.status, 200)
  assert.deepEqual(await payloadsOf(text), [text])
})

test('without a log of the app’s the message goes to standard error', async (t) => {
  const written = t.mock.method(process.stderr, 'write', () => true)
  await using billing = createBilling({ database: { memory: true } })
  const request = newRequest()
  await request.text()
  assert.equal((await billing.fetch(request)).status, 500)
  const lines = written.mock.calls.map(({ arguments: [line] }) => String(line))
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /read before it got here/)
})
