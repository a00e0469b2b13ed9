import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import { receivedCalls, until } from '../support/billing.ts'
import { getRequestListener } from '@hono/node-server'
import express, { type Express } from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import { mount } from 'hono/mount'
import { nodeHandler } from '../../src/http/node-handler.ts'
import { assertFailed } from './answers.ts'
import { embed, listenWith, type Embedded } from './host-apps.ts'
import { eventually, exchange, fakeCallback, order } from './service.ts'

const path = '/billing/webhooks/fake'
const json = { 'content-type': 'application/json' }

let host: Embedded
before(async () => {
  host = await embed()
})
after(() => host[Symbol.asyncDispose]())

let body: string
beforeEach(async () => {
  body = fakeCallback(await host.billing.payments.create(order))
})

const post = (url: string, sent: string | Buffer | ReadableStream = body) =>
  fetch(url, { method: 'POST', body: sent, headers: json, duplex: 'half' })

async function isTaken(answer: Response): Promise<void> {
  assert.equal(answer.status, 200)
  assert.deepEqual(await answer.json(), { message: 'ok' })
  const [call] = await receivedCalls(host.billing, { limit: 1 })
  assert.equal(call?.payload, body)
}

function expressApp(mounted: (app: Express) => void): Express {
  const app = express()
  mounted(app)
  app.use(express.json())
  app.use((request, response) => {
    response.json({ host: request.originalUrl, body: request.body as unknown })
  })
  return app
}

describe('node:http', () => {
  test('a bare handler answers everything that billing.fetch does', async () => {
    await using app = await listenWith(nodeHandler(host.billing))
    await isTaken(await post(app.url + path))
    assert.equal((await fetch(`${app.url}/healthz`)).status, 200)
    assert.equal((await fetch(`${app.url}/elsewhere`)).status, 404)
  })

  test('beside a host app, a callback at a misspelt address is seen', async () => {
    await using app = await listenWith(expressApp((one) => one.use(nodeHandler(host.billing))))
    await isTaken(await post(`${app.url}${path}/`))
    const misspelt = await post(`${app.url}/${path}`)
    assert.deepEqual(await misspelt.json(), { message: 'not the callback URL of this gateway' })
    const elsewhere = await post(`${app.url}//billing/webhooks/nobody`)
    assert.ok('host' in ((await elsewhere.json()) as object))
    // Callbacks are posted: a page of the host app stays what it is.
    const page = await fetch(`${app.url}${path.toUpperCase()}`)
    assert.deepEqual(await page.json(), { host: path.toUpperCase() })
  })

  test('a target that is no URL answers 400', async () => {
    await using app = await listenWith(nodeHandler(host.billing))
    const request = `POST ${path}\\x HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`
    const { answers } = await exchange(app.port, request, { answers: 1 })
    assert.equal(answers[0]?.status, 400)
  })
})

describe('Express', () => {
  const mounted = () => listenWith(expressApp((app) => app.use(nodeHandler(host.billing))))

  test('a callback is taken, and every other request goes on with its body', async () => {
    await using app = await mounted()
    await isTaken(await post(app.url + path))
    for (const other of ['/orders?a=1', '/healthz', `${path}/more`, '/billing/webhooks', '/%zz']) {
      const answer = await post(app.url + other, '{"a":1}')
      assert.deepEqual(await answer.json(), { host: other, body: { a: 1 } })
    }
    const [call] = await receivedCalls(host.billing, { limit: 1 })
    assert.equal(call?.payload, body)
  })

  test('other methods than POST answer 405, unknown gateways 404', async () => {
    await using app = await mounted()
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
      const answer = await fetch(app.url + path, { method })
      assert.equal(answer.status, 405, method)
      assert.equal(answer.headers.get('allow'), 'POST')
    }
    assert.equal((await post(`${app.url}/billing/webhooks/nobody`)).status, 404)
    assert.equal((await post(`${app.url}/billing/webhooks/%zz`)).status, 400)
  })

  test('below a prefix the whole path counts, and else what is left of it', async () => {
    const prefixed = (prefix: string) =>
      listenWith(expressApp((app) => app.use(prefix, nodeHandler(host.billing))))
    for (const [prefix, url] of [
      ['/billing', path],
      ['/billing/webhooks', path],
      ['/pay', `/pay${path}`],
    ] as const) {
      await using app = await prefixed(prefix)
      await isTaken(await post(`${app.url}${url}?a=1`))
      const [call] = await receivedCalls(host.billing, { limit: 1 })
      assert.equal(call?.url, `https://pay.example.test${path}?a=1`)
    }
  })

  test('a body that was waiting behind slow middleware is read whole', async () => {
    await using app = await listenWith(
      expressApp((app) => {
        app.use(async (request, _response, next) => {
          const isWaiting = () => request.readableLength === Buffer.byteLength(body)
          await until(isWaiting, { what: 'its body is there' })
          next()
        })
        app.use(nodeHandler(host.billing))
      }),
    )
    await isTaken(await post(app.url + path))
  })

  test('200 callbacks at once are all taken', async () => {
    await using app = await mounted()
    const answers = await Promise.all(Array.from({ length: 200 }, () => post(app.url + path)))
    assert.ok(answers.every(({ status }) => status === 200))
    const data = await receivedCalls(host.billing, { limit: 100 })
    assert.deepEqual(new Set(data.map(({ payload }) => payload)), new Set([body]))
  })
})

test('large chunked bodies come through byte by byte, and larger ones answer 413', async () => {
  await using app = await listenWith(expressApp((app) => app.use(nodeHandler(host.billing))))
  const payment = await host.billing.payments.create(order)
  // 200 kB of the 256 KiB that this gateway takes.
  const filler = 'ї'.repeat(100_000)
  const text = JSON.stringify({ payment_id: payment.id, result: 'success', filler })
  const chunked = (text: string) =>
    new Blob([text]).stream().pipeThrough(new TransformStream<Uint8Array, Uint8Array>())
  assert.equal((await post(app.url + path, chunked(text))).status, 200)
  const [call] = await receivedCalls(host.billing, { limit: 1 })
  assert.equal(call?.payload, text)
  const answer = await post(app.url + path, chunked(text + filler)).catch(() => undefined)
  assert.ok(answer === undefined || answer.status === 413)
  const [last] = (await host.billing.calls.list({ limit: 1 })).data
  assert.equal(last?.id, call.id, 'nothing more is stored')
})

test('after a refusal the connection of the host serves the next request', async () => {
  await using app = await listenWith(expressApp((app) => app.use(nodeHandler(host.billing))))
  const request = (target: string, text: string) =>
    `POST ${target} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  const long = JSON.stringify({ filler: 'x'.repeat(200_000) })
  const { answers } = await exchange(
    app.port,
    [
      request('/billing/webhooks/stripe', long),
      request('/billing/webhooks/nobody', long),
      request('/orders', '{"a":1}'),
      request(path, body),
    ],
    { answers: 4 },
  )
  assert.deepEqual(
    answers.map(({ status }) => status),
    [403, 404, 200, 200],
  )
  const tooLong = { length: 2 * 1024 * 1024 }
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${tooLong.length}\r\n\r\n`
  const refused = await exchange(app.port, head, { answers: 1 })
  assert.equal(refused.answers[0]?.status, 413)
  assert.equal(refused.answers[0].headers.get('connection'), 'close')
  assert.equal((await post(app.url + path)).status, 200)
})

test('a sender that goes away in the middle of its body harms nobody', async () => {
  const heard: IncomingMessage[] = []
  await using app = await listenWith(
    expressApp((app) => {
      app.use((request, _response, next) => {
        heard.push(request)
        next()
      })
      app.use(nodeHandler(host.billing))
    }),
  )
  for (const [index, framing] of ['Content-Length: 1000', 'Transfer-Encoding: chunked'].entries()) {
    const socket = connect(app.port, '127.0.0.1')
    const begun = `POST ${path} HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n5\r\n{"a":`
    socket.write(begun)
    const isRead = () => heard[index]?.socket.bytesRead === begun.length
    await until(isRead, { what: 'the half of it is there' })
    socket.destroy()
    await until(() => heard[index]?.closed === true, { what: 'it is known to have gone' })
  }
  await isTaken(await post(app.url + path))
  assert.deepEqual(
    host.logged.filter((line) => line.includes('read before it got here')),
    [],
  )
})

test('whatever middleware throws, the answer is 500 and the host lives', async () => {
  for (const thrown of [new Error('broken'), 'broken']) {
    await using broken = await embed({
      database: { memory: true },
      webhook: {
        middleware: [
          () => {
            throw thrown
          },
        ],
      },
    })
    await using app = await listenWith(expressApp((app) => app.use(nodeHandler(broken.billing))))
    const answer = await post(app.url + path, '{}')
    await assertFailed(answer, broken.logged)
    assert.ok(broken.logged.some((line) => line.includes('broken')))
  }
})

describe('Fastify', () => {
  test('a plugin of its own leaves the bytes alone, whatever their content type', async () => {
    await using app = fastify()
    const handle = nodeHandler(host.billing)
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
      scope.all('/billing/webhooks/:gateway', (request, reply) => {
        reply.hijack()
        handle(request.raw, reply.raw)
      })
    })
    app.post('/orders', (request) => request.body)
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    await isTaken(await post(url + path))
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'a/b; charset=x']) {
      const headers = { 'content-type': type }
      const answer = await fetch(url + path, { method: 'POST', body, headers })
      assert.equal(answer.status, 200, type)
    }
    const untyped = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const { answers } = await exchange(Number(new URL(url).port), untyped, { answers: 1 })
    assert.equal(answers[0]?.status, 200)
    assert.equal((await fetch(url + path)).status, 405)
    assert.deepEqual(await (await post(`${url}/orders`, '{"a":1}')).json(), { a: 1 })
  })
})

describe('Hono', () => {
  const listen = (app: Hono) =>
    listenWith((incoming, outgoing) => {
      void getRequestListener(app.fetch, { overrideGlobalObjects: false })(incoming, outgoing)
    })

  test('a route that hands the request on, with its environment', async () => {
    const app = new Hono().all('/billing/webhooks/:gateway', (c) =>
      host.billing.fetch(c.req.raw, c.env),
    )
    await using served = await listen(app)
    await isTaken(await post(served.url + path))
    assert.equal((await fetch(served.url + path)).status, 405)
  })

  test('mounted below a prefix, what is left of the path counts', async () => {
    const app = new Hono()
    app.route('/pay', new Hono().use(mount(host.billing.fetch)))
    await using served = await listen(app)
    await isTaken(await post(`${served.url}/pay${path}`))
  })

  test('a request that somebody cloned and read is still whole', async () => {
    const app = new Hono().post('*', async (c) => {
      const copy = c.req.raw.clone()
      await copy.text()
      return host.billing.fetch(c.req.raw, c.env)
    })
    await using served = await listen(app)
    await isTaken(await post(served.url + path))
  })

  test('middleware of the route learns the sender through the environment', async () => {
    const seen: unknown[] = []
    await using watched = await embed({
      database: { memory: true },
      webhook: {
        middleware: [
          async (c, next) => {
            const { incoming } = c.env as { incoming?: { socket: { remoteAddress: string } } }
            seen.push(incoming?.socket.remoteAddress)
            await next()
          },
        ],
      },
    })
    const app = new Hono().all('*', (c) => watched.billing.fetch(c.req.raw, c.env))
    await using inHono = await listen(app)
    await using inExpress = await listenWith(
      expressApp((app) => app.use(nodeHandler(watched.billing))),
    )
    await post(inHono.url + path, '{}')
    await post(inExpress.url + path, '{}')
    await watched.billing.fetch(new Request(`http://x${path}`, { method: 'POST', body: '{}' }))
    await eventually(async () => (seen.length === 3 ? true : undefined))
    assert.deepEqual(seen, ['127.0.0.1', '127.0.0.1', undefined])
  })
})

test('the development checkout of a payment is served in the host app too', async () => {
  const payment = await host.billing.payments.create(order)
  await using app = await listenWith(expressApp((app) => app.use(nodeHandler(host.billing))))
  const answer = await fetch(app.url + new URL(payment.checkoutUrl ?? '').pathname)
  assert.equal(answer.status, 200)
  assert.match(await answer.text(), /<form/)
})
