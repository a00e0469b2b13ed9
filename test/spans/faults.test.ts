import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { context, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { BillingOptions } from '../../src/billing/options.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import type { Tracer } from '../../src/kernel/spans.ts'
import {
  idle,
  newPayment,
  openBilling,
  sendFake,
  sendJson,
  until,
  type TestBilling,
} from '../support/billing.ts'
import { capturedLog } from '../support/captured-log.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { statedCall, stating } from '../support/stating-gateway.ts'
import { startReceiver } from '../outbound/receiver.ts'
import { keepActiveSpans, recordSpans, spanIdOf, textOf } from './recorded-spans.ts'

const encryptionKey = randomBytes(32).toString('base64')
const signingSecret = 'whsec_canary_0123456789'
const gateways = { stripe: { signing_secret: signingSecret } }

keepActiveSpans()

onAnyDatabase((engine) => {
  test('a refused callback is an error of its own request’s trace, with the reason', async () => {
    const recorded = recordSpans()
    await using billing = await openBilling(engine, { tracer: recorded.tracer, gateways })
    await recorded.tracer.startActiveSpan('POST', async (span) => {
      assert.equal((await sendJson(billing.core, 'stripe', { id: 'evt_canary' })).status, 403)
      span.end()
    })
    const { attributes, status, parentSpanContext, links, kind } = recorded.span('callback')
    assert.equal(parentSpanContext?.spanId, spanIdOf(recorded.span('POST')))
    assert.equal(kind, SpanKind.INTERNAL)
    assert.deepEqual(links, [])
    assert.deepEqual(recorded.span('POST').links, [])
    assert.deepEqual(attributes, {
      'quittance.gateway': 'stripe',
      'http.response.status_code': 403,
      'error.type': 'signature_missing',
    })
    assert.deepEqual(status, { code: SpanStatusCode.ERROR, message: 'signature_missing' })
  })

  test('a callback to a gateway that does not exist repeats nothing of the request', async () => {
    const recorded = recordSpans()
    await using billing = await openBilling(engine, { tracer: recorded.tracer })
    assert.equal((await sendJson(billing.core, 'canary', {})).status, 404)
    await until(() => recorded.spans().length > 0, { what: 'its span has ended' })
    assert.deepEqual(recorded.span('callback').attributes, {
      'http.response.status_code': 404,
      'error.type': 'unknown_gateway',
    })
    assert.equal(recorded.span('callback').kind, SpanKind.SERVER)
    assert.doesNotMatch(textOf(recorded.span('callback')), /canary/)
  })

  test('what a listener throws is shown by its type and its first line, without a secret', async () => {
    const recorded = recordSpans()
    await using billing = await openBilling(engine, { tracer: recorded.tracer, gateways })
    const { core } = billing
    const has = (name: string) => recorded.spans().some((one) => one.name === name)
    const fail = () => {
      throw new RangeError(`no stock, ${signingSecret}\nthe second line`)
    }
    core.on('PaymentSucceeded', 'grantAccess', fail)
    core.on('PaymentFailed', 'sendReminder', fail, { queued: true })
    await core.work()
    const { id } = await newPayment(core)
    await sendFake(core, id, 'failure')
    await until(() => has('delivery sendReminder'), { what: 'it was delivered' })
    await sendFake(core, id, 'success')
    await until(() => has('listener grantAccess'), { what: 'it was listened to' })
    const failed = () => recorded.spans().filter(({ status }) => status.code !== 0)
    await until(() => failed().length >= 4, { what: 'all that failed has ended' })
    const names = ['dispatch PaymentSucceeded', 'listener grantAccess', 'process call']
    for (const name of ['delivery sendReminder', ...names]) {
      const span = failed().find((one) => one.name === name)
      assert.deepEqual(span?.status, {
        code: SpanStatusCode.ERROR,
        message: 'no stock, [secret]',
      })
      assert.equal(span.attributes['error.type'], 'RangeError')
      const [event] = span.events
      assert.deepEqual(event?.attributes, {
        'exception.type': 'RangeError',
        'exception.message': 'no stock, [secret]',
      })
    }
  })

  test('a listener that loses the transaction, and a callback that cannot be interpreted, are failed attempts', async () => {
    const recorded = recordSpans()
    const unreadable = new TypeError('what is this?')
    const strange = { ...stating, name: 'strange', interpret: () => Promise.reject(unreadable) }
    const { tracer } = recorded
    const options = { tracer, extraGateways: [strange], listenerBudgetMs: 200 }
    await using billing = await openBilling(engine, options)
    const { core } = billing
    core.on('PaymentSucceeded', 'grantAccess', () => new Promise(() => {}))
    await core.work()
    const { id } = await newPayment(core)
    await sendFake(core, id, 'success')
    assert.equal((await core.receive(statedCall([], 'strange'))).status, 200)
    const failed = () => recorded.spans().filter(({ name }) => name === 'process call')
    await until(() => failed().length === 2, { what: 'both were tried' })
    const types = failed().map(({ attributes, status }) => {
      return [attributes['quittance.gateway'], attributes['error.type'], status.code].join()
    })
    assert.deepEqual(new Set(types), new Set(['fake,listener_timed_out,2', 'strange,TypeError,2']))
    assert.equal(recorded.span('listener grantAccess').status.code, SpanStatusCode.ERROR)
  })

  test('a forward that is refused says how, and not what it was answered', async () => {
    const recorded = recordSpans()
    const options = { tracer: recorded.tracer, billing: { encryptionKey } }
    await using billing = await openBilling(engine, options)
    const { core } = billing
    await using receiver = await startReceiver((_, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' }).end('canary')
    })
    const { secret } = await core.endpoints.create({ name: 'shop', url: receiver.url })
    receiver.secret = secret
    await core.work()
    const { id } = await newPayment(core)
    await sendFake(core, id, 'success')
    const forwards = () => recorded.spans().filter(({ name }) => name.startsWith('forward'))
    await until(() => forwards().length > 0, { what: 'it was sent' })
    const [span] = forwards()
    assert.equal(span?.attributes['http.response.status_code'], 500)
    assert.equal(span.attributes['error.type'], 'rejected')
    assert.equal(span.status.code, SpanStatusCode.ERROR)
    assert.doesNotMatch(textOf(span), /canary/)
  })

  test('a provider that cannot be asked is a word, not its text', async () => {
    const recorded = recordSpans()
    const away = new QuittanceError('provider_unreachable', 'canary of the provider')
    const asking = { ...stating, name: 'asking', poll: () => Promise.reject(away) }
    const options = { tracer: recorded.tracer, extraGateways: [asking] }
    await using billing = await openBilling(engine, options)
    const { id } = await newPayment(billing.core, { gateway: 'asking' })
    await assert.rejects(billing.core.payments.poll(id), { code: 'provider_unreachable' })
    const span = recorded.span('provider poll')
    assert.deepEqual(span.status, { code: SpanStatusCode.ERROR, message: 'unreachable' })
    assert.doesNotMatch(textOf(span), /canary/)
  })

  test('no span has anything of a body, a header or a query', async () => {
    const recorded = recordSpans()
    await using billing = await openBilling(engine, { tracer: recorded.tracer, gateways })
    const { core } = billing
    core.on('PaymentSucceeded', 'grantAccess', () => {})
    await core.work()
    const { id } = await newPayment(core, { metadata: { note: 'canary' } })
    for (const gateway of ['fake', 'stripe']) {
      await core.receive({
        gateway,
        target: `/billing/webhooks/${gateway}?token=canary`,
        headers: { 'content-type': 'application/json', authorization: 'Bearer canary' },
        body: Buffer.from(JSON.stringify({ payment_id: id, result: 'success', note: 'canary' })),
      })
    }
    await until(() => recorded.spans().length >= 5, { what: 'all spans have ended' })
    for (const span of recorded.spans()) assert.doesNotMatch(textOf(span), /canary|Bearer/)
  })

  for (const [what, broken] of Object.entries(brokenTracers())) {
    test(`a tracer ${what} costs no callback and no event, and is logged once`, async () => {
      const { log, lines } = capturedLog()
      const heard: string[] = []
      const { tracer, restore } = broken()
      const options: BillingOptions = { tracer, log, billing: { encryptionKey }, gateways }
      await using billing = await openBilling(engine, options)
      await using receiver = await startReceiver()
      try {
        await play(billing, receiver, heard)
      } finally {
        restore()
      }
      assert.deepEqual(heard.toSorted(), ['delivered', 'direct', 'later'])
      assert.equal(receiver.taken.length, 1)
      const failures = lines.filter(({ msg }) => msg === 'the tracer failed: spans are missing')
      assert.equal(failures.length, 1)
      assert.equal(failures[0]?.['level'], 40)
    })
  }
})

type StartedReceiver = Awaited<ReturnType<typeof startReceiver>>

async function play(
  { core }: TestBilling,
  receiver: StartedReceiver,
  heard: string[],
): Promise<void> {
  const { secret } = await core.endpoints.create({ name: 'shop', url: receiver.url })
  receiver.secret = secret
  core.on('PaymentSucceeded', 'grantAccess', (_, { afterCommit }) => {
    heard.push('direct')
    afterCommit(() => heard.push('later'))
  })
  core.on('PaymentSucceeded', 'sendReceipt', () => void heard.push('delivered'), { queued: true })
  await core.work()
  const { id } = await newPayment(core)
  assert.equal((await sendFake(core, id, 'success')).status, 200)
  assert.equal((await sendJson(core, 'stripe', {})).status, 403)
  await idle(core)
  await until(() => heard.length === 3 && receiver.taken.length === 1, { what: 'all is done' })
}

interface Broken {
  readonly tracer: Tracer
  restore(): void
}

function brokenTracers(): Readonly<Record<string, () => Broken>> {
  const restore = () => {}
  const fault = () => {
    throw new Error('the tracer is broken')
  }
  return {
    'that throws': () => ({ tracer: { startSpan: fault }, restore }),
    'whose spans throw': () => ({
      tracer: {
        startSpan: () => new Proxy({}, { get: (_, name) => (name === 'then' ? undefined : fault) }),
      },
      restore,
    }),
    'that makes no spans at all': () => ({
      tracer: { startSpan: () => undefined as unknown as object },
      restore,
    }),
    'whose context is broken': () => {
      const { with: kept } = context
      context.with = fault
      return {
        tracer: recordSpans().tracer,
        restore: () => {
          context.with = kept
        },
      }
    },
  }
}
