import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { BillingCore } from '../../src/billing/types.ts'
import type { IncomingCall } from '../../src/intake/receive.ts'
import {
  receivedCalls,
  allCalls,
  newPayment,
  openBilling,
  idle,
  type TestBilling,
} from '../support/billing.ts'
import { capturedLog } from '../support/captured-log.ts'
import { unavailable } from '../../src/gateways/gateway.ts'
import { stripe as stripeGateway } from '../../src/gateways/stripe/index.ts'
import { embedded, onAnyDatabase } from '../support/databases.ts'
import { signedHeaders, signingSecret, stripeOptions } from '../support/stripe-callbacks.ts'
import { storedIds } from './store.ts'

const unknownPayment = '01990000-0000-7000-8000-00000000abcd'
const validFake = JSON.stringify({ payment_id: unknownPayment, result: 'success' })
const stripeBody = '{"id":"evt_1","object":"event","type":"a","data":{"object":{}}}'

function signedAt(offsetSeconds: number, secret = signingSecret): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1000) + offsetSeconds
  const digest = createHmac('sha256', secret).update(`${timestamp}.${stripeBody}`).digest('hex')
  return { 'stripe-signature': `t=${timestamp},v1=${digest}` }
}

interface Refusal {
  readonly gateway: string
  readonly body: string
  readonly headers?: () => Record<string, string>
  readonly answer: readonly [status: number, message: string]
  /** In the log; nothing is logged of a gateway that does not exist. */
  readonly reason?: string
}

const forbidden = [403, 'forbidden'] as const
const notFound = [404, 'unknown gateway'] as const
const fake = (body: string) => ({ gateway: 'fake', body })
const stripe = (headers: () => Record<string, string>, reason: string): Refusal => ({
  gateway: 'stripe',
  body: stripeBody,
  headers,
  answer: forbidden,
  reason,
})

const refusals: Readonly<Record<string, Refusal>> = {
  'an unknown gateway': { gateway: 'paypal', body: validFake, answer: notFound },
  'a gateway in the wrong case': { gateway: 'Fake', body: validFake, answer: notFound },
  'no gateway': { gateway: '', body: validFake, answer: notFound },
  'a gateway called __proto__': { gateway: '__proto__', body: validFake, answer: notFound },
  'a gateway called constructor': { gateway: 'constructor', body: validFake, answer: notFound },
  'a gateway called hasOwnProperty': { gateway: 'hasOwnProperty', body: '', answer: notFound },
  'no signature': stripe(() => ({}), 'signature_missing'),
  'an empty signature': stripe(() => ({ 'stripe-signature': '' }), 'signature_missing'),
  'a signature of another secret': stripe(() => signedAt(0, 'whsec_another'), 'signature_mismatch'),
  'a signature of another body': stripe(
    () => signedHeaders(`${stripeBody} `),
    'signature_mismatch',
  ),
  'a signature that is too old': stripe(() => signedAt(-400), 'timestamp_too_old'),
  'a signature of the future': stripe(() => signedAt(400), 'timestamp_in_future'),
  'a signature of another scheme': stripe(
    () => ({ 'stripe-signature': `t=${Math.floor(Date.now() / 1000)},v0=${'0'.repeat(64)}` }),
    'signature_scheme_missing',
  ),
  'a fake callback without a body': {
    ...fake(''),
    answer: [422, 'body is missing or not allowed'],
  },
  'a fake callback that is no JSON': {
    ...fake('payment_id=1&result=success'),
    answer: [422, 'body is missing or not allowed'],
  },
  'a fake callback that is a list': {
    ...fake('[]'),
    answer: [422, 'body is missing or not allowed'],
  },
  ...Object.fromEntries(
    [undefined, null, 1, {}, [unknownPayment]].map((payment_id) => [
      `a fake payment_id of ${JSON.stringify(payment_id)}`,
      {
        ...fake(JSON.stringify({ payment_id, result: 'success' })),
        answer: [422, 'payment_id is missing or not allowed'],
      } satisfies Refusal,
    ]),
  ),
  ...Object.fromEntries(
    [undefined, null, true, 'SUCCESS', 'success\n', 'paid', ['success']].map((result) => [
      `a fake result of ${JSON.stringify(result)}`,
      {
        ...fake(JSON.stringify({ payment_id: unknownPayment, result })),
        answer: [422, 'result is missing or not allowed'],
      } satisfies Refusal,
    ]),
  ),
}

function incoming(refusal: Pick<Refusal, 'gateway' | 'body' | 'headers'>): IncomingCall {
  return {
    gateway: refusal.gateway,
    target: `/billing/webhooks/${refusal.gateway}?secret=in_the_url`,
    headers: { 'content-type': 'application/json', ...refusal.headers?.() },
    body: Buffer.from(refusal.body),
  }
}

onAnyDatabase((engine) => {
  const log = capturedLog()
  let billing: TestBilling
  let unconfigured: TestBilling
  before(async () => {
    billing = await openBilling(engine, { ...stripeOptions, log: log.log })
    unconfigured = await openBilling(engine, {
      log: log.log,
      gateways: { stripe: { signing_secret: ' , undefined,null' }, fake: { enabled: 'off' } },
    })
    await billing.core.work()
  })
  after(async () => {
    await billing.close()
    await unconfigured.close()
  })

  async function refusedAs(to: TestBilling, refusal: Refusal): Promise<void> {
    const before = await storedIds(to.database)
    const logged = log.lines.length
    const answer = await to.core.receive(incoming(refusal))
    const [status, message] = refusal.answer
    assert.equal(answer.status, status)
    assert.equal(answer.body, JSON.stringify({ message }), 'the answer tells more than its status')
    assert.equal(answer.headers['content-type'], 'application/json')
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.deepEqual(await storedIds(to.database), before)
    const refusals = log.lines
      .slice(logged)
      .filter(({ msg }) => msg === 'callback refused')
      .map(({ gateway, reason }) => ({ gateway, reason }))
    const { gateway, reason } = refusal
    assert.deepEqual(refusals, reason === undefined ? [] : [{ gateway, reason }])
  }

  for (const [what, refusal] of Object.entries(refusals)) {
    test(`${what} -> ${refusal.answer[0]}, nothing stored, the reason only in the log`, () =>
      refusedAs(billing, refusal))
  }

  test('a gateway without a secret -> 403 even where the signature is right', () =>
    refusedAs(unconfigured, {
      gateway: 'stripe',
      body: stripeBody,
      headers: () => signedHeaders(stripeBody),
      answer: forbidden,
      reason: 'not_configured',
    }))

  for (const secret of ['', ' ', 'undefined', 'null']) {
    test(`a gateway without a secret -> 403 for what is signed with ${JSON.stringify(secret)}`, () =>
      refusedAs(unconfigured, {
        gateway: 'stripe',
        body: stripeBody,
        headers: () => signedAt(0, secret),
        answer: forbidden,
        reason: 'not_configured',
      }))
  }

  test('the fake gateway switched off -> 403 before its fields are looked at', () =>
    refusedAs(unconfigured, { ...fake('{}'), answer: forbidden, reason: 'not_configured' }))

  test('under production rules the fake gateway -> 403 unless it is switched on', async () => {
    const production = await openBilling(engine, {
      log: log.log,
      production: true,
      database: { allowEmbeddedInProduction: true },
    }).catch((error: unknown) => error)
    if (production instanceof Error) {
      // Only the embedded database is refused there, before anything is answered.
      assert.equal(engine.name, 'embedded')
      return
    }
    try {
      await refusedAs(production as TestBilling, {
        ...fake(validFake),
        answer: forbidden,
        reason: 'not_configured',
      })
    } finally {
      await (production as TestBilling).close()
    }
  })

  async function accepted(core: BillingCore, call: IncomingCall): Promise<void> {
    const answer = await core.receive(call)
    assert.deepEqual(answer, {
      status: 200,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
      body: '{"message":"ok"}',
    })
  }

  for (const name of ['stripe', 'alpha']) {
    test(`a signed callback to ${name} -> 200, stored under the canonical name`, async () => {
      const headers = () => signedHeaders(stripeBody)
      await accepted(billing.core, incoming({ gateway: name, body: stripeBody, headers }))
      const call = (await receivedCalls(billing.core, { limit: 1 }))[0]
      assert.equal(call?.gateway, 'stripe')
      assert.equal(call?.url, `http://localhost:3000/billing/webhooks/${name}?secret=[redacted]`)
      assert.equal(call?.headers['stripe-signature'], '[redacted]')
      assert.equal(call?.payload, stripeBody)
    })
  }

  test('the fake fields: success pays, failure fails, an unknown payment is Ignored', async () => {
    const { core } = billing
    for (const [result, status] of [
      ['success', 'paid'],
      ['failure', 'failed'],
    ] as const) {
      const payment = await newPayment(core)
      await accepted(core, incoming(fake(JSON.stringify({ payment_id: payment.id, result }))))
      await idle(core)
      assert.equal((await core.payments.get(payment.id))?.status, status)
    }
    const payment = await newPayment(core)
    const payment_id = payment.id.toUpperCase()
    await accepted(core, incoming(fake(JSON.stringify({ payment_id, result: 'success' }))))
    await idle(core)
    assert.equal((await core.payments.get(payment_id))?.status, 'paid', 'it is the same UUID')
    for (const [payment_id, reason] of [
      [unknownPayment, 'unknown_payment'],
      ['42', 'invalid_reference'],
      [unknownPayment.toUpperCase(), 'unknown_payment'],
      [`{${unknownPayment}}`, 'invalid_reference'],
      ['', 'invalid_reference'],
    ] as const) {
      await accepted(core, incoming(fake(JSON.stringify({ payment_id, result: 'success' }))))
      await idle(core)
      const call = (await allCalls(core)).at(-1)
      assert.equal(call?.state, 'ignored')
      const [outcome] = call?.outcome ?? []
      assert.equal(outcome?.result === 'ignored' && outcome.reason, reason)
    }
  })

  test('a 200 means accepted, not processed: without a worker the call stays pending', async () => {
    await using idle = await openBilling(engine).then((one) => ({
      ...one,
      [Symbol.asyncDispose]: one.close,
    }))
    const payment = await newPayment(idle.core)
    const body = JSON.stringify({ payment_id: payment.id, result: 'success' })
    await accepted(idle.core, incoming(fake(body)))
    const [call] = await allCalls(idle.core)
    assert.equal(call?.state, 'pending')
    assert.equal((await idle.core.payments.get(payment.id))?.status, 'pending')
  })
})

test('a callback that cannot be verified now is answered 503, logged, and not stored', async () => {
  const { log, lines } = capturedLog()
  const keyless = {
    ...stripeGateway,
    name: 'keyless',
    aliases: [],
    verify: () => unavailable('key_unavailable'),
  }
  const gateways = { keyless: { signing_secret: signingSecret } }
  await using opened = await openBilling(embedded, { extraGateways: [keyless], gateways, log })
  const answer = await opened.core.receive({
    gateway: 'keyless',
    target: '/billing/webhooks/keyless',
    headers: {},
    body: Buffer.from(stripeBody),
  })
  assert.equal(answer.status, 503)
  assert.equal(answer.headers['retry-after'], '5')
  assert.equal(answer.body, '{"message":"temporarily unavailable"}')
  assert.deepEqual(await allCalls(opened.core), [])
  const warned = lines.filter((line) => line['reason'] === 'key_unavailable')
  assert.deepEqual(
    warned.map((line) => [line['gateway'], line['msg']]),
    [['keyless', 'callback cannot be verified now']],
  )
})

test('a flood of callbacks without a signature does not fill the log: a thousand lines, then a count', async () => {
  const { log, lines } = capturedLog()
  const opened = await openBilling(embedded, { ...stripeOptions, log })
  const unsigned = { gateway: 'stripe', target: '/', headers: {}, body: Buffer.from('{}') }
  for (let sent = 0; sent < 1_030; sent += 1) await opened.core.receive(unsigned)
  const refusals = () => lines.filter(({ msg }) => /callback.* refused/.test(String(msg)))
  const told = refusals().length
  await opened.close()
  assert.equal(told, 1_000)
  const { count, reasons } = refusals()[1_000] ?? {}
  assert.deepEqual([count, reasons], [30, { 'stripe: signature_missing': 30 }])
})
