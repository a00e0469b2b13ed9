import assert from 'node:assert/strict'
import { request, type IncomingMessage } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { createCore } from '../../src/billing/create-core.ts'
import { createApp } from '../../src/http/app.ts'
import { health, type HealthOptions } from '../../src/http/health.ts'
import { newQuestion, questionHeader } from '../../src/http/same-database.ts'
import { secret } from '../../src/kernel/secret.ts'
import { listen, type HttpServer } from '../../src/http/serve.ts'
import { assertFailed } from './answers.ts'
import {
  apiToken,
  capturedLog,
  maxBodyBytes,
  eventually,
  fakeCallback,
  order,
  origin,
  startService,
} from './service.ts'
import type { Service } from './service.ts'

let service: Service
before(async () => {
  service = await startService({ billing: { returnOrigins: ['https://shop.example'] } })
})
after(() => service[Symbol.asyncDispose]())

const authorization = `Bearer ${apiToken}`
const appOptions = { apiToken: [secret(apiToken)], maxBodyBytes, webhookMiddleware: [] }

type Json = Record<string, unknown>
const wireOrder = {
  gateway: 'fake',
  amount: 1999,
  currency: 'USD',
  payable: { type: 'order', id: '7' },
}
const api = async (path: string, init: RequestInit = {}) => {
  const response = await service.api(path, init)
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Json,
  }
}
const create = (body: unknown) => api('/payments', { method: 'POST', body: JSON.stringify(body) })
const settle = async () => {
  const { body: payment } = await create(wireOrder)
  const id = String(payment['id'])
  await service.post('/billing/webhooks/fake', fakeCallback({ id }))
  return eventually(async () => {
    const { body } = await api(`/payments/${id}`)
    return body['status'] === 'pending' ? undefined : body
  })
}

describe('guessing the token', () => {
  const { log, logged } = capturedLog()
  let server: HttpServer
  before(async () => {
    const app = createApp(service.core, { ...appOptions, log })
    server = await listen(app, { host: '127.0.0.1', port: 0, log })
  })
  after(() => server.close(0))

  const ask = (token: string, localAddress = '127.0.0.1') =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` }
      const url = `${server.url}/billing/api/payments`
      const outgoing = request(url, { headers, localAddress }, (answer) => {
        answer.resume().once('end', () => resolve(answer))
      })
      outgoing.on('error', reject).end()
    })

  test('is answered 429 after ten tries a minute, of this address alone, and logged', async () => {
    const guesses: (number | undefined)[] = []
    for (let guess = 0; guess < 30; guess += 1) guesses.push((await ask(`x${guess}`)).statusCode)
    assert.deepEqual(guesses, [...Array<number>(10).fill(401), ...Array<number>(20).fill(429)])
    const { headers } = await ask('another')
    assert.ok(Number(headers['retry-after']) > 0 && Number(headers['retry-after']) <= 60)
    assert.equal((await ask('guess', '127.0.0.2')).statusCode, 401)
    const lines = logged.filter((line) => line.includes('without its token'))
    assert.equal(lines.length, 1)
    assert.match(lines[0] ?? '', /"level":40.*"refused":1,"addresses":\{"127\.0\.0\.1":1\}/)
    assert.doesNotMatch(lines[0] ?? '', /x0|Bearer/)
  })

  test('never keeps the token itself out: the operator may have the same address', async () => {
    for (let guess = 0; guess < 15; guess += 1) await ask(`y${guess}`)
    assert.equal((await ask('wrong')).statusCode, 429)
    assert.equal((await ask(apiToken)).statusCode, 200)
  })
})

describe('authentication', () => {
  const headers: readonly (readonly [string, Record<string, string>])[] = [
    ['no header', {}],
    ['a wrong token', { authorization: 'Bearer wrong' }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: 'Basic dGVzdDp0ZXN0' }],
    [
      'the token with more behind it',
      { authorization: 'Bearer test-token-for-the-management-api2' },
    ],
    ['the bare token', { authorization: 'test-token-for-the-management-api' }],
  ]
  for (const [what, sent] of headers) {
    test(`${what} answers 401`, async () => {
      for (const path of what === 'no header' ? ['/payments', '/nope'] : ['/payments']) {
        const answer = await api(path, { headers: sent })
        assert.equal(answer.status, 401)
        assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
        assert.deepEqual(answer.body, { message: 'the bearer token is missing or wrong' })
      }
    })
  }

  test('the scheme may be in any case, and the token opens everything', async () => {
    const sent = { authorization: 'bearer test-token-for-the-management-api' }
    assert.equal((await api('/payments', { headers: sent })).status, 200)
    assert.equal((await api('/nope')).status, 404)
  })
})

describe('POST /payments', () => {
  test('answers 201 with the payment as it can be read again', async () => {
    const sent = {
      ...wireOrder,
      description: 'Two tickets',
      return_url: 'https://shop.example/thanks',
      customer: { email: 'a@example.com' },
      metadata: { seat: [1, 2] },
      merchant_account: 'acct_1',
      live: false,
      save_card: true,
      expires_at: '2030-01-02T03:04:05.000Z',
    }
    const { status, body } = await create(sent)
    assert.equal(status, 201)
    const { id, created_at: createdAt, ...rest } = body
    assert.match(String(id), /^[0-9a-f-]{36}$/)
    assert.equal(new Date(String(createdAt)).toISOString(), createdAt)
    for (const [field, value] of Object.entries(sent)) assert.deepEqual(rest[field], value, field)
    assert.equal(rest['status'], 'pending')
    assert.deepEqual([rest['checkout'], rest['operation_error']], ['open', null])
    assert.equal(rest['payment_method_id'], null)
    assert.equal(new Date(String(rest['handed_at'])).toISOString(), rest['handed_at'])
    assert.equal(rest['checkout_url'], `${origin}/billing/fake/checkout/${String(id)}`)
    const read = await api(`/payments/${String(id)}`)
    assert.deepEqual(read.body, {
      ...body,
      activity: [],
      refunded: 0,
      refundable: 0,
      transitions: [],
      period: null,
      reviews: [],
      events: [],
      deferred_events: [],
      refunds: [],
      disputes: [],
      payment_methods: [],
    })
  })

  test('is repeatable by id, and refuses the same id with other content', async () => {
    const id = '0199a000-0000-7000-8000-000000000001'
    const first = await create({ ...wireOrder, id })
    const second = await create({ ...wireOrder, id })
    assert.deepEqual([first.status, second.status], [201, 201])
    assert.deepEqual(second.body, first.body)
    const other = await create({ ...wireOrder, id, amount: 1 })
    assert.equal(other.status, 409)
    assert.equal(other.body['code'], 'payment_exists')
  })

  // What each field may be is held by test/money/payment-input.test.ts.
  const refused: readonly (readonly [string, unknown, field?: string])[] = [
    ['amount is required', { ...wireOrder, amount: undefined }, 'amount'],
    ['payable.id is required', { ...wireOrder, payable: { type: 'order' } }, 'payable.id'],
    [
      'unknown field "payable.sku"; there are type, id',
      { ...wireOrder, payable: { type: 'o', id: '1', sku: 'x' } },
      'payable.sku',
    ],
    ...['2030-01-02', 1_900_000_000].map(
      (time) =>
        [
          'expires_at must be a time in ISO 8601, such as 2026-11-20T09:30:00Z',
          { ...wireOrder, expires_at: time },
          'expires_at',
        ] as const,
    ),
    ['the body must be a JSON object', []],
    ['the body must be a JSON object', null],
  ]
  for (const [message, body, field] of refused) {
    test(`422: ${message}, for ${JSON.stringify(body).slice(0, 150)}`, async () => {
      assert.deepEqual(await create(body).then(({ status, body }) => ({ status, body })), {
        status: 422,
        body: { message, code: 'payment_invalid', ...(field !== undefined && { field }) },
      })
    })
  }

  test('a gateway that is not registered answers 422', async () => {
    const { status, body } = await create({ ...wireOrder, gateway: 'paypal' })
    assert.deepEqual([status, body['code']], [422, 'gateway_unknown'])
  })

  test('an alias is kept as the canonical name', async () => {
    const { body } = await create({ ...wireOrder, gateway: 'alpha', checkout: false })
    assert.equal(body['gateway'], 'stripe')
    const list = await api('/payments?gateway=alpha')
    assert.deepEqual(
      (list.body['data'] as Json[]).map((row) => row['id']),
      [body['id']],
    )
  })

  test('a key that is given twice answers 400, naming it: which one is meant?', async () => {
    for (const [body, key] of [
      ['{"amount":1,"gateway":"fake","amount":100000}', 'amount'],
      ['{"payable":{"type":"order","id":"1","id":"2"}}', 'id'],
      ['{"metadata":{"a\\u0062":1,"ab":2}}', 'ab'],
    ] as const) {
      const answer = await api('/payments', { method: 'POST', body })
      const message = `the key "${key}" is given twice`
      assert.deepEqual([answer.status, answer.body], [400, { message }])
    }
  })

  test('what is no JSON answers 400, what is too large 413', async () => {
    for (const body of ['', '{', 'amount=1', '\ufffe', new Uint8Array([0x7b, 0xff, 0x7d])]) {
      const answer = await api('/payments', { method: 'POST', body })
      assert.deepEqual([answer.status, answer.body], [400, { message: 'the body is not JSON' }])
    }
    const nested = '['.repeat(60_000)
    assert.equal((await api('/payments', { method: 'POST', body: nested })).status, 400)
    const large = JSON.stringify({ ...wireOrder, description: 'x'.repeat(70_000) })
    const answer = await api('/payments', { method: 'POST', body: large })
    assert.deepEqual([answer.status, answer.body], [413, { message: 'body too large' }])
  })
})

describe('reading', () => {
  test('one payment comes with its transitions and events', async () => {
    const paid = await settle()
    assert.equal(paid['status'], 'paid')
    const [transition] = paid['transitions'] as Json[]
    assert.deepEqual(
      [transition?.['from'], transition?.['to'], transition?.['cause']],
      ['pending', 'paid', 'call'],
    )
    const [event] = paid['events'] as Json[]
    assert.equal(event?.['type'], 'PaymentSucceeded')
    // It says nothing besides.
    assert.ok(event !== undefined && !('data' in event))
    assert.equal(event?.['dedup_key'], `payment:paid:${String(paid['id'])}`)
    assert.equal(event?.['webhook_call_id'], transition?.['webhook_call_id'])
  })

  test('one call shows its url, headers, payload, claims and outcome', async () => {
    const paid = await settle()
    const list = await api(`/webhook-calls?payment_id=${String(paid['id'])}`)
    const [row] = list.body['data'] as Json[]
    const { status, body } = await api(`/webhook-calls/${String(row?.['id'])}`)
    assert.equal(status, 200)
    assert.equal(body['url'], `${origin}/billing/webhooks/fake`)
    assert.equal(body['state'], 'processed')
    assert.equal(body['exception'], null)
    assert.deepEqual(body['payload'], { payment_id: paid['id'], result: 'success' })
    assert.deepEqual(body['dedup_claims'], [`payment:paid:${String(paid['id'])}`])
    assert.equal((body['headers'] as Json)['host'], `127.0.0.1:${service.listening.port}`)
    assert.equal(body['body_base64'], null)
  })

  test('payments are found by what they pay for and by their customer', async () => {
    const payable = { type: 'order', id: 'a:b' }
    const { body } = await create({ ...wireOrder, payable, customer: { email: 'b@example.com' } })
    const other = await create({ ...wireOrder, payable })
    const idsOf = async (query: string) =>
      ((await api(`/payments?${query}`)).body['data'] as Json[]).map(({ id }) => id)
    assert.deepEqual(await idsOf('payable=order:a:b'), [other.body['id'], body['id']])
    assert.deepEqual(await idsOf('payable=order:a:b&customer=b@example.com'), [body['id']])
  })

  test('gateways are an object by name', async () => {
    const { body } = await api('/gateways')
    const fake = body['fake'] as Json
    const stripe = body['stripe'] as Json
    assert.equal(fake['webhook_url'], `${origin}/billing/webhooks/fake`)
    assert.equal(fake['webhook_requires_dashboard_setup'], false)
    assert.equal(stripe['webhook_requires_dashboard_setup'], true)
    assert.ok((stripe['aliases'] as string[]).includes('alpha'))
    assert.equal(stripe['configured'], true)
    assert.equal(typeof (stripe['capabilities'] as Json)['partial_refund'], 'boolean')
  })

  test('a type of event or a gateway that there is not is refused', async () => {
    const { status, body } = await api('/events?type=PaymentDone')
    const message = 'type must be names of events, with commas between them'
    assert.deepEqual([status, body], [400, { message, field: 'type' }])
    const unknown = await api('/webhook-calls?gateway=paypal')
    assert.deepEqual([unknown.status, unknown.body['code']], [422, 'gateway_unknown'])
  })
})

describe('replay', () => {
  test('202, the call is processed again, and nothing fires twice', async () => {
    const paid = await settle()
    const list = await api(`/webhook-calls?payment_id=${String(paid['id'])}`)
    const [before] = list.body['data'] as Json[]
    const path = `/webhook-calls/${String(before?.['id'])}`
    assert.equal((await api(`${path}/replay`, { method: 'POST' })).status, 202)
    await eventually(async () => {
      const { body } = await api(path)
      const again = body['processed_at'] !== before?.['processed_at']
      return again && body['state'] !== 'pending' && body['state'] !== 'processing'
        ? body
        : undefined
    })
    const { body } = await api(`/payments/${String(paid['id'])}`)
    assert.equal((body['events'] as Json[]).length, 1)
  })

  test('409 while the call is pending', async () => {
    await using idle = await startService({ work: false })
    const payment = await idle.core.payments.create(order)
    await idle.post('/billing/webhooks/fake', fakeCallback(payment))
    const [call] = (await idle.core.calls.list()).data
    const replay = await idle.api(`/webhook-calls/${call?.id}/replay`, { method: 'POST' })
    assert.equal(replay.status, 409)
    assert.equal(((await replay.json()) as Json)['code'], 'call_in_progress')
  })
})

describe('health', () => {
  test('/healthz answers as long as the process does', async () => {
    const answer = await fetch(`${service.listening.url}/healthz`)
    assert.deepEqual([answer.status, await answer.json()], [200, { status: 'ok' }])
  })

  describe('/healthz and the database that the service works on:', () => {
    const key = secret('0190163d-8694-739b-aea5-966c26f8ad90')
    const databaseOf = async (question: string, options: Partial<HealthOptions> = {}) => {
      const app = health(service.core, { ...service, databaseKey: async () => key, ...options })
      const answer = await app.request('/healthz', { headers: { [questionHeader]: question } })
      const { status, database } = (await answer.json()) as Json
      assert.deepEqual([answer.status, status], [200, 'ok'])
      return database
    }

    test('who knows its key learns that it is the same', async () => {
      const question = newQuestion(key)
      const answer = await databaseOf(question.text)
      assert.ok(question.isAnsweredBy(answer))
      assert.ok(!newQuestion(key).isAnsweredBy(answer), 'an answer fits no other question')
      assert.ok(!question.isAnsweredBy(question.text.split('.')[1]), 'nor is a question an answer')
    })

    test('who has another key learns that it is another one', async () => {
      assert.equal(await databaseOf(newQuestion(secret('another')).text), null)
    })

    test('anybody else learns nothing, and nobody looks at the key for them', async () => {
      const databaseKey = () => assert.fail('the key was read')
      const { text } = newQuestion(key)
      for (const odd of ['', 'x', text.slice(1), `${text}0`, text.toUpperCase()]) {
        assert.equal(await databaseOf(odd, { databaseKey }), undefined, odd)
      }
    })

    test('nobody learns it while the database does not answer, or has no key', async () => {
      const gone = async () => Promise.reject(new Error('gone'))
      const { text } = newQuestion(key)
      assert.equal(await databaseOf(text, { databaseKey: gone }), undefined)
      assert.equal(await databaseOf(text, { databaseKey: undefined }), undefined)
    })
  })

  test('/readyz says how much is pending where only operators ask', async () => {
    const answer = await fetch(`${service.listening.url}/readyz`)
    assert.equal(answer.status, 200)
    assert.deepEqual(await answer.json(), { ready: true, problems: [], warnings: [] })
    const operators = await health(service.core, { isPrivate: true }).request('/readyz')
    const body = (await operators.json()) as Json
    assert.equal(typeof body['pending_calls'], 'number')
    assert.equal(typeof body['oldest_pending_seconds'], 'number')
  })

  test('however many ask for /readyz at once, the database is asked twice', async () => {
    let asked = 0
    const readiness = () => {
      asked += 1
      return service.core.readiness()
    }
    const app = health({ ...service.core, readiness }, {})
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => Promise.resolve(app.request('/readyz'))),
    )
    assert.ok(answers.every(({ status }) => status === 200))
    assert.equal(asked, 2)
  })

  test('with its database gone: /readyz and callbacks answer 503, /healthz 200', async () => {
    const broken = await startService({ work: false })
    const payment = await broken.core.payments.create(order)
    await broken.core.close()
    const ready = await fetch(`${broken.listening.url}/readyz`)
    assert.equal(ready.status, 503)
    const problems = ['the database does not answer: see the log']
    assert.deepEqual(await ready.json(), { ready: false, problems, warnings: [] })
    assert.equal((await fetch(`${broken.listening.url}/healthz`)).status, 200)
    const callback = await broken.post('/billing/webhooks/fake', fakeCallback(payment))
    assert.equal(callback.status, 503)
    assert.ok(callback.headers.has('retry-after'))
    await broken.listening.close(100)
  })

  test('the management API answers 503 while the database cannot be reached', async () => {
    const { log, logged } = capturedLog()
    const core = createCore({ database: { url: 'postgres://nobody@127.0.0.1:1/none' }, log })
    const app = createApp(core, { ...appOptions, log })
    const headers = { authorization, 'x-request-id': 'req-7.of_the-proxy' }
    const answer = await app.request('/billing/api/payments', { headers })
    assert.equal(answer.status, 503)
    assert.ok(answer.headers.has('retry-after'))
    const id = headers['x-request-id']
    const body: unknown = await answer.json()
    assert.deepEqual(body, { message: 'temporarily unavailable', request_id: id })
    assert.equal(answer.headers.get('x-request-id'), id)
    assert.ok(logged.some((line) => line.includes(`"requestId":"${id}"`)))
    await core.close()
  })

  test('a failure that nobody foresaw answers a constant 500 and is logged', async () => {
    const { log, logged } = capturedLog()
    const payments = { ...service.core.payments, list: () => Promise.reject(new Error('a bug')) }
    const app = createApp({ ...service.core, payments }, { ...appOptions, log })
    const answer = await app.request('/billing/api/payments', { headers: { authorization } })
    await assertFailed(answer, logged)
    assert.ok(logged.some((line) => line.includes('a bug')))
  })
})
