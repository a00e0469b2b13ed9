import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { createCore } from '../../src/billing/create-core.ts'
import { createApp } from '../../src/http/app.ts'
import {
  exchange,
  fakeCallback,
  maxBodyBytes,
  order,
  origin,
  forEachWay,
  startService,
} from './service.ts'
import type { Service } from './service.ts'

forEachWay((way) => {
  let service: Service
  let port: number
  before(async () => {
    service = await startService({ ...way, work: false })
    port = service.listening.port
  })
  after(() => service[Symbol.asyncDispose]())

  const fakePath = '/billing/webhooks/fake'
  const send = async (method: string, path: string, { headers = '', body = '' } = {}) => {
    const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`
    const request = `${method} ${path} HTTP/1.1\r\nHost: x\r\n${length}${headers}\r\n${body}`
    const { answers } = await exchange(port, request, { answers: 1 })
    assert.ok(answers[0], `${method} ${path} was not answered`)
    return answers[0]
  }
  const appOptions = { apiToken: undefined, maxBodyBytes, webhookMiddleware: [] }
  const storedCalls = async () => (await service.core.calls.list({ limit: 100 })).data

  describe('bad inputs, A: routing and method', () => {
    const otherMethods = METHODS.filter((name) => name !== 'POST' && name !== 'CONNECT')
    for (const method of otherMethods) {
      test(`1-3: ${method} on the webhook route answers 405 with Allow: POST`, async () => {
        const answer = await send(method, fakePath, { headers: 'Origin: https://evil.example\r\n' })
        assert.equal(answer.status, 405)
        assert.equal(answer.headers.get('allow'), 'POST')
        const cors = [...answer.headers.keys()].filter((name) => name.startsWith('access-control'))
        assert.deepEqual(cors, [])
      })
    }

    test('17: X-HTTP-Method-Override changes nothing', async () => {
      const answer = await send('GET', fakePath, { headers: 'X-HTTP-Method-Override: POST\r\n' })
      assert.equal(answer.status, 405)
    })

    const unknown: readonly (readonly [string, string, readonly number[]])[] = [
      ['5', 'paypal', [404]],
      ['6', 'Stripe', [404]],
      ['6', 'FAKE', [404]],
      ['7', '__proto__', [404]],
      ['7', 'constructor', [404]],
      ['7', 'toString', [404]],
      ['7', 'hasOwnProperty', [404]],
      ['8', '..%2f..%2fetc', [404]],
      ['8', '%2e%2e', [404]],
      ['8', 'fake%00', [404]],
      ['8', 'fak%2565', [404]],
      ['9', '%zz', [400]],
      ['9', 'fake%', [400]],
      ['9', '%ff', [400]],
      ['11', '/fake', [404]],
      ['11', 'fake//', [404]],
      ['11', 'fake/more', [404]],
      ['11', '', [404]],
    ]
    for (const [row, segment, statuses] of unknown) {
      test(`${row}: the gateway ${JSON.stringify(segment)} answers ${statuses.join()}`, async () => {
        const before = (await storedCalls()).length
        const body = fakeCallback(await service.core.payments.create(order))
        const answer = await send('POST', `/billing/webhooks/${segment}`, { body })
        assert.ok(statuses.includes(answer.status), String(answer.status))
        assert.equal((await storedCalls()).length, before)
      })
    }

    test('9: a bad escape anywhere in a path answers 400, in a query nothing', async () => {
      assert.equal((await send('GET', '/%zz/healthz')).status, 400)
      assert.equal((await send('GET', '/healthz?x=%zz')).status, 200)
    })

    test('11: one slash at the end is taken; other addresses that are almost right are counted', async () => {
      const body = fakeCallback(await service.core.payments.create(order))
      assert.equal((await send('POST', `${fakePath}/?a=b`, { body })).status, 200)
      assert.equal((await storedCalls())[0]?.url, `${origin}${fakePath}?a=b`)
      assert.equal((await send('GET', `${fakePath}/`)).status, 405)
      const seen: unknown[] = []
      const core = {
        ...service.core,
        answered: (...[gateway, status]: readonly [string, number, unknown?]) =>
          void seen.push([gateway, status]),
      }
      const warned: unknown[] = []
      const log = service.log.child({})
      log.warn = (about: unknown) => void warned.push(about)
      const app = createApp(core, { ...appOptions, log })
      const near = [
        `/${fakePath}`,
        `${fakePath}//`,
        '/billing//webhooks/fake',
        '/Billing/webhooks/FAKE',
        '/billing/webhooks/Fake',
        `${fakePath}%20`,
      ]
      for (const path of near) {
        const answer = await app.request(`${origin}${path}`, { method: 'POST', body })
        assert.equal(answer.status, 404, path)
        assert.deepEqual(await answer.json(), { message: 'not the callback URL of this gateway' })
      }
      const address = `${origin}${fakePath}`
      assert.deepEqual(
        seen,
        near.map(() => ['fake', 404]),
      )
      assert.deepEqual(warned, [{ gateway: 'fake', address }])
      for (const path of ['//billing/webhooks/nobody', '/billing/webhooks//', '//healthz']) {
        assert.equal((await app.request(`${origin}${path}`, { method: 'POST' })).status, 404, path)
      }
      assert.equal(seen.length, near.length)
    })

    test('12, 13: escaped and absolute targets are routed, what is stored is ours', async () => {
      const body = fakeCallback(await service.core.payments.create(order))
      const targets = [
        ['/billing/%77ebhooks/%66ake?a=%20b#c', `${origin}${fakePath}?a=%20b`],
        [`http://evil.example${fakePath}?x=1`, `${origin}${fakePath}?x=1`],
        ['/webhook/billing/fake', `${origin}/webhook/billing/fake`],
        [`${fakePath}?a=b#token=x`, `${origin}${fakePath}?a=b`],
        [`${fakePath}?a="<`, `${origin}${fakePath}?a=%22%3C`],
      ] as const
      for (const [target, stored] of targets) {
        const answer = await send('POST', target, { body })
        assert.deepEqual([answer.status, answer.body], [200, '{"message":"ok"}'], target)
        assert.equal((await storedCalls())[0]?.url, stored)
      }
    })

    test('15: a Host that names none answers 400', async () => {
      for (const host of ['a b', 'ex@mple', 'x:99999']) {
        const request = `POST ${fakePath} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\n\r\n`
        const { answers } = await exchange(port, request, { answers: 1 })
        assert.equal(answers[0]?.status, 400, host)
      }
    })

    test('14, 15: two Host headers or none answer 400', async () => {
      assert.equal((await send('POST', fakePath, { headers: 'Host: y\r\n' })).status, 400)
      const { answers } = await exchange(port, `POST ${fakePath} HTTP/1.1\r\n\r\n`, { answers: 1 })
      assert.equal(answers[0]?.status, 400)
    })

    test('an alias and the specification’s own label reach the gateway', async () => {
      assert.equal((await send('POST', '/billing/webhooks/alpha')).status, 403)
    })
  })

  test('18: the fake gateway answers 403 in production, and its page is not there', async () => {
    await using production = await startService({
      ...way,
      work: false,
      billing: { production: true, database: { allowEmbeddedInProduction: true } },
    })
    const payment = await service.core.payments.create(order)
    assert.equal((await production.post(fakePath, fakeCallback(payment))).status, 403)
    const page = await fetch(`${production.listening.url}/billing/fake/checkout/${payment.id}`)
    assert.equal(page.status, 404)
  })

  describe('a configured path', () => {
    const paths = [
      ['/hooks/{gateway}', '/hooks/stripe', '/hooks/stripe/in'],
      ['in/{gateway}/call', '/in/stripe/call', '/in/stripe'],
      ['/a:b*c/{gateway}/x.json', '/a:b*c/stripe/x.json', '/axbxc/stripe/x.json'],
      ['/{gateway}', '/stripe', '/x/stripe'],
      ['/hooks/{gateway}/', '/hooks/stripe/', '/hooks/stripe'],
    ] as const
    for (const [path, there, elsewhere] of paths) {
      test(`${path} is answered and replaces the default paths`, async () => {
        // Only the paths are taken from this one, so that it needs no database of its own.
        const { webhookPaths } = createCore({ database: { memory: true }, webhook: { path } })
        const app = createApp(
          { ...service.core, webhookPaths },
          { ...appOptions, log: service.log },
        )
        const status = async (at: string) => (await app.request(at, { method: 'POST' })).status
        assert.equal(await status(there), 403)
        assert.equal(await status(elsewhere), 404)
        assert.equal(await status('/billing/webhooks/stripe'), 404)
        assert.equal((await app.request(there)).status, 405)
        assert.equal((await app.request('/healthz')).status, 200)
        assert.equal((await app.request('/healthz/')).status, 404)
      })
    }

    test('19: a path without the segment is refused', () => {
      for (const path of ['/hooks', '/hooks/{name}', '/{gateway}/{gateway}', '/x-{gateway}']) {
        assert.throws(() => createCore({ database: { memory: true }, webhook: { path } }), {
          code: 'webhook_path_without_gateway',
        })
      }
    })
  })

  describe('the order of checks: the first that fails answers', () => {
    const tooLong = `Content-Length: ${maxBodyBytes + 1}\r\n`
    const packed = 'Content-Encoding: gzip\r\n'
    const rows: readonly (readonly [number, string, string])[] = [
      [400, 'GET', `/billing/webhooks/%zz|${packed}${tooLong}`],
      [405, 'GET', `/billing/webhooks/paypal|${packed}${tooLong}`],
      [404, 'POST', `/billing/webhooks/paypal|${packed}${tooLong}`],
      [415, 'POST', `/billing/webhooks/stripe|${packed}${tooLong}`],
      [413, 'POST', `/billing/webhooks/stripe|${tooLong}`],
      [403, 'POST', '/billing/webhooks/stripe|Content-Length: 0\r\n'],
      [422, 'POST', '/billing/webhooks/fake|Content-Length: 0\r\n'],
    ]
    for (const [status, method, rest] of rows) {
      test(`${status} comes before what else is wrong`, async () => {
        const [path = '', headers = ''] = rest.split('|')
        const request = `${method} ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`
        // No body comes: whoever waited for it would never answer.
        const { answers } = await exchange(port, request, { answers: 1 })
        assert.equal(answers[0]?.status, status)
      })
    }
  })

  test('a gateway that sends small callbacks takes no larger body, announced or not', async () => {
    const limit = 256 * 1024
    const roomy = createApp(service.core, {
      ...appOptions,
      maxBodyBytes: 2 * limit,
      log: service.log,
    })
    const status = async (app: typeof roomy, gateway: string, length: number) => {
      const url = `${origin}/billing/webhooks/${gateway}`
      const body = 'x'.repeat(length)
      const announced = await app.fetch(
        new Request(url, { method: 'POST', body, headers: { 'content-length': String(length) } }),
      )
      const stream = new Blob([body]).stream()
      const streamed = await app.fetch(
        new Request(url, { method: 'POST', body: stream, duplex: 'half' }),
      )
      assert.equal(streamed.status, announced.status)
      return announced.status
    }
    for (const name of ['liqpay', 'sha1-base64', 'wayforpay', 'hutko', 'monobank']) {
      assert.equal(await status(roomy, name, limit), 403, name)
      assert.equal(await status(roomy, name, limit + 1), 413, name)
    }
    for (const name of ['stripe', 'paddle']) {
      assert.equal(await status(roomy, name, 2 * limit), 403, name)
      assert.equal(await status(roomy, name, 2 * limit + 1), 413, name)
    }
    // The setting holds for them too.
    const tight = createApp(service.core, { ...appOptions, log: service.log })
    assert.equal(await status(tight, 'liqpay', maxBodyBytes + 1), 413)
    // And where the routes are somebody else's.
    const body = new Uint8Array(limit + 1)
    const call = { gateway: 'liqpay', target: '/billing/webhooks/liqpay', headers: {}, body }
    assert.equal((await service.core.receive(call)).status, 413)
  })

  describe('middleware of the webhook route', () => {
    const throttled = () =>
      createApp(service.core, {
        ...appOptions,
        log: service.log,
        webhookMiddleware: [
          (c, next) => {
            if (c.req.header('x-busy') !== undefined) return Promise.resolve(c.text('busy', 429))
            return next()
          },
          async (c, next) => {
            await next()
            c.header('x-seen', 'yes')
          },
        ],
      })

    test('it runs after the method check and before the gateway is looked up', async () => {
      const app = throttled()
      const busy = { 'x-busy': '1' }
      const status = async (path: string, method: string) =>
        (await app.request(path, { method, headers: busy })).status
      assert.equal(await status('/billing/webhooks/paypal', 'GET'), 405)
      assert.equal(await status('/billing/webhooks/paypal', 'POST'), 429)
      assert.equal(await status('/healthz', 'GET'), 200)
    })

    test('what it lets pass is received, and it may add to the answer', async () => {
      const body = fakeCallback(await service.core.payments.create(order))
      const answer = await throttled().request(fakePath, { method: 'POST', body })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('x-seen'), 'yes')
      assert.deepEqual(await answer.json(), { message: 'ok' })
    })
  })

  test('unknown paths, and the management API without a token, answer 404', async () => {
    const app = createApp(service.core, { ...appOptions, log: service.log })
    for (const path of ['/', '/nope', '/billing/api', '/billing/api/payments', '/metrics']) {
      const answer = await app.request(path)
      assert.equal(answer.status, 404, path)
      assert.deepEqual(await answer.json(), { message: 'not found' })
    }
  })

  test('every answer is uncacheable, has a fixed type, and names no server', async () => {
    const targets = [
      ['GET', '/healthz'],
      ['GET', '/readyz'],
      ['GET', '/nope'],
      ['GET', fakePath],
      ['POST', fakePath],
      ['POST', '/billing/webhooks/paypal'],
      ['POST', '/billing/webhooks/stripe'],
      ['GET', '/billing/api/payments'],
      ['GET', '/billing/fake/checkout/x'],
      ['GET', '/%zz'],
    ] as const
    for (const [method, path] of targets) {
      const { headers } = await send(method, path)
      assert.equal(headers.get('cache-control'), 'no-store', path)
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path)
      assert.equal(headers.has('server') || headers.has('x-powered-by'), false, path)
    }
  })

  test('every answer has the id that its request came with, if that is harmless, or a new one', async () => {
    const isUuid = /^[0-9a-f]{8}-[0-9a-f-]{27}$/
    const idOf = async (path: string, sent: string) => {
      const { headers } = await send('POST', path, { headers: sent })
      return headers.get('x-request-id') ?? ''
    }
    const paths = [fakePath, `${fakePath}?a`, '/billing/webhooks/liqpay', '/nope', '/%zz']
    for (const [at, path] of paths.entries()) {
      const own = `proxy-${at}.of_ours`
      assert.equal(await idOf(path, `X-Request-Id: ${own}\r\n`), own, path)
      for (const odd of ['', 'a b', 'a<b>', '\u00e9', 'x'.repeat(65)]) {
        assert.match(await idOf(path, `X-Request-Id: ${odd}\r\n`), isUuid, `${path}: ${odd}`)
      }
      assert.match(await idOf(path, 'X-Request-Id: one\r\nX-Request-Id: two\r\n'), isUuid, path)
      assert.notEqual(await idOf(path, ''), await idOf(path, ''))
    }
    const refused = service.logged.filter((line) => line.includes('"requestId":"proxy-2.of_ours"'))
    assert.match(refused.join('\n'), /"gateway":"liqpay".*"callback refused"/)
    for (const faulty of ['GARBAGE', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b']) {
      const { answers } = await exchange(port, `${faulty}\r\n\r\n`)
      assert.equal(answers[0]?.status, 400)
      assert.match(answers[0]?.headers.get('x-request-id') ?? '', isUuid)
    }
  })

  test('refusals are constant texts: nothing of the request is in them', async () => {
    const marker = 'ECHO-ME-7f3a'
    const headers = `Stripe-Signature: ${marker}\r\n`
    const constant = [
      [400, 'POST', `/billing/webhooks/${marker}%zz`, 'bad request'],
      [403, 'POST', `/billing/webhooks/stripe?${marker}`, 'forbidden'],
      [404, 'POST', `/billing/webhooks/${marker}`, 'unknown gateway'],
      [404, 'POST', `/${marker}`, 'not found'],
      [405, 'PUT', `/billing/webhooks/${marker}`, 'method not allowed'],
      [422, 'POST', `/billing/webhooks/fake?${marker}`, 'body is missing or not allowed'],
    ] as const
    for (const [status, method, path, text] of constant) {
      const answer = await send(method, path, { headers, body: marker })
      assert.equal(answer.status, status)
      assert.equal(answer.body, JSON.stringify({ message: text }))
      assert.equal(JSON.stringify([...answer.headers]).includes(marker), false)
    }
  })
})
