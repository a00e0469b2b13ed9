import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { receivedCalls } from '../support/billing.ts'
import { getRequestListener } from '@hono/node-server'
import { createApp } from '../../src/http/app.ts'
import { healthPaths } from '../../src/http/health.ts'
import { plainCallbacks } from '../../src/http/plain-callbacks.ts'
import { listen, usualArrival, type ListenOptions } from '../../src/http/serve.ts'
import { minutes } from '../../src/kernel/duration.ts'
import { assertFailed } from './answers.ts'
import {
  exchange,
  fakeCallback,
  maxBodyBytes,
  order,
  forEachWay,
  slowly,
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

  const path = '/billing/webhooks/fake'
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\n`
  const chunkedHead = `${head}Transfer-Encoding: chunked\r\n\r\n`
  const appOptions = () => ({
    apiToken: undefined,
    maxBodyBytes,
    log: service.log,
    webhookMiddleware: [],
  })
  const storedCalls = async () => await receivedCalls(service.core, { limit: 100 })
  const payableBody = async () => fakeCallback(await service.core.payments.create(order))

  describe('bad inputs, B: framing faults are answered and the connection ends', () => {
    const many = Array.from({ length: 3_000 }, (_, index) => `h${index}: v\r\n`).join('')
    const some = Array.from({ length: 120 }, (_, index) => `h${index}: v\r\n`).join('')
    const faults: readonly (readonly [string, number, string])[] = [
      ['20', 400, `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
      ['21', 400, `${head}Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde`],
      ...['+4', '-1', '0x4', '1e3'].map(
        (length) => ['23', 400, `${head}Content-Length: ${length}\r\n\r\nabcd`] as const,
      ),
      ['24', 400, `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
      ['25', 400, `${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
      ['26', 400, `${head}X-A: b\r\n c\r\nContent-Length: 0\r\n\r\n`],
      ['27', 400, `POST ${path} HTTP/1.1\nHost: x\nContent-Length: 0\n\n`],
      ['29', 400, `${head}X-A: b\0c\r\nContent-Length: 0\r\n\r\n`],
      ['30', 431, `${head}X-A: ${'a'.repeat(20_000)}\r\n\r\n`],
      ['31', 431, `${head}${many}\r\n`],
      ['31, below the size limit', 431, `${head}${some}\r\n`],
      ['32', 400, `${chunkedHead}1;${'a'.repeat(65_536)}\r\nx\r\n0\r\n\r\n`],
      ['33, one digit more', 400, `${chunkedHead}FFFFFFFFFFFFFFFFF\r\nx`],
      ['43', 417, `${head}Expect: x\r\nContent-Length: 0\r\n\r\n`],
      ['a request line without a version, as of HTTP/0.9', 400, 'GET /healthz\r\n\r\n'],
      ['HTTP/0.9', 400, 'GET /healthz HTTP/0.9\r\nHost: x\r\n\r\n'],
      ['HTTP/2.0 in words', 400, 'GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n'],
      ['44', 400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
      ['no HTTP at all', 400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
      ['an unknown method', 400, `FOO ${path} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ]
    for (const [row, status, bytes] of faults) {
      test(`${row}: ${status}`, async () => {
        const { answers, closed } = await exchange(port, bytes)
        assert.equal(answers[0]?.status, status)
        assert.equal(answers.length, 1)
        assert.equal(answers[0]?.headers.get('connection'), 'close')
        assert.equal(typeof JSON.parse(answers[0]?.body ?? '').message, 'string')
        assert.equal(closed, true)
        assert.deepEqual(await storedCalls(), [])
      })
    }

    test('44: an upgrade is not one: the request is answered as it stands', async () => {
      const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
      const request = `GET /socket HTTP/1.1\r\nHost: x\r\n${upgrade}`
      const { answers } = await exchange(port, request, { answers: 1 })
      assert.equal(answers[0]?.status, 404)
    })

    test('45: HTTP/1.0 without Host is handled and the connection ends', async () => {
      const { answers, closed } = await exchange(port, 'GET /healthz HTTP/1.0\r\n\r\n')
      assert.equal(answers[0]?.status, 200)
      assert.equal(closed, true)
    })

    test('43: Expect: 100-continue gets its 100, then the answer', async () => {
      const body = '{}'
      const ask = `${head}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`
      const { answers } = await exchange(port, [ask, body], { answers: 2, pieces: 'answered' })
      assert.deepEqual(
        answers.map(({ status }) => status),
        [100, 422],
      )
    })

    for (const [what, status, length, target] of [
      ['a body above the limit', 413, maxBodyBytes + 1, path],
      ['an unknown gateway', 404, 4, '/billing/webhooks/nobody'],
      ['a route that reads no body', 405, 4, '/healthz'],
    ] as const) {
      test(`Expect: 100-continue: ${what} answers ${status} at once, unasked for`, async () => {
        const ask = `POST ${target} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n`
        const { answers, closed } = await exchange(port, `${ask}Content-Length: ${length}\r\n\r\n`)
        assert.deepEqual(
          answers.map((answer) => answer.status),
          [status],
        )
        assert.equal(closed, true)
      })
    }

    test('48: a signature header that came twice answers 403', async () => {
      const signature = `Stripe-Signature: t=1,v1=${'0'.repeat(64)}\r\n`
      const request = `POST /billing/webhooks/stripe HTTP/1.1\r\nHost: x\r\n${signature}${signature}`
      const { answers } = await exchange(port, `${request}Content-Length: 2\r\n\r\n{}`, {
        answers: 1,
      })
      assert.equal(answers[0]?.status, 403)
    })

    for (const encoding of ['br', 'gzip', 'deflate', 'gzip, gzip', 'identity, gzip', 'GZIP']) {
      test(`47: Content-Encoding ${encoding} answers 415`, async () => {
        const answer = await service.post(path, await payableBody(), {
          'content-encoding': encoding,
        })
        assert.equal(answer.status, 415)
        assert.deepEqual(await storedCalls(), [])
      })
    }
  })

  describe('bad inputs, B: a sender that is too slow is cut', () => {
    const short = 250
    const soon = { headersTimeout: short, requestTimeout: short, connectionsCheckingInterval: 50 }
    /** With limits for what is tested alone: whatever ends it, the other one does not. */
    const withLimits = async (
      limits: Pick<ListenOptions, 'arrival' | 'keepAlive'>,
      run: (port: number) => Promise<void>,
    ) => {
      const plain = way.plain
        ? plainCallbacks(service.core, { ...appOptions(), ownPaths: healthPaths })
        : undefined
      const where = { host: '127.0.0.1', port: 0, log: service.log, plain }
      // Nothing but the limit of the test may end a connection in time.
      const others = { arrival: slowly, silence: minutes(2) }
      const app = createApp(service.core, appOptions())
      const server = await listen(app, { ...where, ...others, ...limits })
      try {
        await run(server.port)
      } finally {
        await server.close(0)
      }
    }
    const slowHeaders = { arrival: { ...soon, requestTimeout: minutes(2) } }
    const slowBody = { arrival: soon }

    test('a request may take 8 s, its headers 4 s', () => {
      const { headersTimeout, requestTimeout } = usualArrival
      assert.deepEqual([headersTimeout, requestTimeout], [4_000, 8_000])
    })

    for (const [what, limits, pieces, trickleMs] of [
      [
        '37: a body that stays short of its length',
        slowBody,
        [`${head}Content-Length: 100\r\n\r\n0123456789`],
        undefined,
      ],
      [
        '33: the largest chunk size, waited for in vain,',
        slowBody,
        [`${chunkedHead}FFFFFFFFFFFFFFFF\r\nx`],
        undefined,
      ],
      ['39: a body that trickles in', slowBody, [`${head}Content-Length: 50000\r\n\r\n`, 'x'], 30],
      ['38: headers that trickle in', slowHeaders, [head, 'X'], 30],
    ] as const) {
      test(`${what} answers 408 when its time is up`, () =>
        withLimits(limits, async (slowPort) => {
          const result = await exchange(slowPort, pieces, { ...(trickleMs && { trickleMs }) })
          assert.equal(result.answers[0]?.status, 408)
          assert.equal(result.closed, true)
        }))
    }

    test('a connection that says nothing is cut when the time of its headers is up', () =>
      withLimits(slowHeaders, async (slowPort) => {
        assert.equal((await exchange(slowPort, [])).closed, true)
      }))

    test('a connection that asks no more is cut after the time that is set', () =>
      withLimits({ keepAlive: 1_000 }, async (slowPort) => {
        const request = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'
        const result = await exchange(slowPort, request)
        assert.equal(result.answers[0]?.status, 200)
        assert.equal(result.answers[0]?.headers.get('keep-alive'), 'timeout=1, max=1000')
        assert.equal(result.closed, true)
      }))
  })

  describe('the body limit', () => {
    test('35: a Content-Length above it answers 413 before a byte of the body came', async () => {
      const result = await exchange(port, `${head}Content-Length: ${maxBodyBytes + 1}\r\n\r\n`)
      assert.equal(result.answers[0]?.status, 413)
      assert.equal(result.closed, true)
    })

    test('36: a chunked body answers 413 at the limit and the connection is closed', async () => {
      const chunk = `${(16_384).toString(16)}\r\n${'x'.repeat(16_384)}\r\n`
      const pieces = [chunkedHead, ...Array<string>(7).fill(chunk)]
      const result = await exchange(port, pieces)
      assert.equal(result.answers[0]?.status, 413)
      assert.equal(result.closed, true)
      assert.deepEqual(await storedCalls(), [])
    })

    test('a body of exactly the limit passes, announced or chunked', async () => {
      const callback = await payableBody()
      const body = callback + ' '.repeat(maxBodyBytes - callback.length)
      const announced = await service.post(path, body)
      assert.equal(announced.status, 200)
      const chunked = await fetch(service.listening.url + path, {
        method: 'POST',
        body: new Blob([body]).stream(),
        duplex: 'half',
      })
      assert.equal(chunked.status, 200)
      const [call] = await storedCalls()
      assert.equal(call?.payload?.length, maxBodyBytes)
    })

    test('a body in crumbs answers 400 and the connection is closed', async () => {
      const crumbs = (count: number) => `${chunkedHead}${'1\r\n \r\n'.repeat(count)}`
      const { answers, closed } = await exchange(port, crumbs(50_000))
      assert.equal(answers[0]?.status, 400)
      assert.equal(answers[0]?.headers.get('connection'), 'close')
      assert.equal(closed, true)
      const body = await payableBody()
      const whole = `${crumbs(1_000)}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
      assert.equal((await exchange(port, whole, { answers: 1 })).answers[0]?.status, 200)
      const bytes = Array.from(Buffer.from(await payableBody()).toString('latin1'))
      const single = `${chunkedHead}${bytes.map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`
      assert.equal((await exchange(port, single, { answers: 1 })).answers[0]?.status, 200)
    })

    test('a sender that goes away in the middle stores nothing and breaks nothing', async () => {
      const before = (await storedCalls()).length
      const expecting = `${head}Expect: 100-continue\r\nContent-Length: 100\r\n\r\n`
      // It is asked for its body, so its request is under way.
      const { answers } = await exchange(port, [expecting, '{"payment_id"'], { answers: 1 })
      assert.equal(answers[0]?.status, 100)
      assert.equal((await storedCalls()).length, before)
      assert.equal((await fetch(`${service.listening.url}/healthz`)).status, 200)
      const errors = service.logged.filter((line) => line.includes('"level":50'))
      assert.deepEqual(errors, [])
    })
  })

  test('42: pipelined requests are answered in order, each judged alone', async () => {
    const body = await payableBody()
    const post = (name: string, content: string) =>
      `POST /billing/webhooks/${name} HTTP/1.1\r\nHost: x\r\n` +
      `Content-Length: ${content.length}\r\n\r\n${content}`
    const requests = [
      post('fake', body),
      post('stripe', body),
      post('paypal', body),
      post('fake', '{}'),
      'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
    ].join('')
    const { answers } = await exchange(port, requests, { answers: 5 })
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 403, 404, 422, 200],
    )
  })

  describe('a whole request has its answer, whatever cannot be read behind it', () => {
    const length = (body: string) => `Content-Length: ${body.length}\r\n\r\n${body}`
    for (const [what, header, behind] of [
      ['another one, although it said that it was the last', 'Connection: close\r\n', head],
      ['rubbish', '', 'rubbish\r\n\r\n'],
      ['rubbish, although it said that it was the last', 'Connection: close\r\n', 'rubbish'],
      ['a request that nobody serves', '', `${head}Transfer-Encoding: x\r\n\r\n`],
      ['too large a head', '', `${head}X-A: ${'a'.repeat(20_000)}`],
    ] as const) {
      test(what, async () => {
        const earlier = (await storedCalls()).length
        const request = `${head}${header}${length(await payableBody())}`
        for (const pieces of [request + behind, [request + behind, behind]]) {
          const { answers, closed } = await exchange(port, pieces)
          assert.deepEqual(
            answers.map(({ status }) => status),
            [200],
          )
          assert.equal(closed, true)
        }
        assert.equal((await storedCalls()).length, earlier + 2)
      })
    }
  })

  test('bytes reach the core untouched', async () => {
    await using exact = await startService({ ...way, work: false })
    const payment = await exact.core.payments.create(order)
    const withMark = Buffer.concat([
      Buffer.from([0xef, 0xbb, 0xbf]),
      Buffer.from(fakeCallback(payment)),
    ])
    assert.equal((await exact.post(path, withMark)).status, 200)
    const [call] = await receivedCalls(exact.core)
    assert.deepEqual(Buffer.from(call?.body ?? []), withMark)
  })

  test('embedded behind a body parser: 500, and the log says what to move', async () => {
    const app = createApp(service.core, appOptions())
    const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
    const host = createServer((incoming, outgoing) => {
      incoming.resume().on('end', () => void listener(incoming, outgoing))
    })
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve))
    const address = host.address()
    assert.ok(typeof address === 'object' && address !== null)
    const answer = await fetch(`http://127.0.0.1:${address.port}${path}`, {
      method: 'POST',
      body: await payableBody(),
    })
    host.close()
    host.closeAllConnections()
    await assertFailed(answer, service.logged)
    assert.ok(service.logged.some((line) => line.includes('move the body parser')))
  })

  test('bytes that a middleware read through Hono are used, text that it read is not', async () => {
    const reading = (read: 'arrayBuffer' | 'text') =>
      createApp(service.core, {
        ...appOptions(),
        webhookMiddleware: [
          async (c, next) => {
            await c.req[read]()
            await next()
          },
        ],
      })
    const body = await payableBody()
    const ask = { method: 'POST', body }
    assert.equal((await reading('arrayBuffer').request(path, ask)).status, 200)
    assert.equal((await reading('text').request(path, ask)).status, 500)
  })
})
