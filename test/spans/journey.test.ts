import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-node'
import type { BillingOptions } from '../../src/billing/options.ts'
import { createCore } from '../../src/billing/create-core.ts'
import { requireGateway } from '../../src/gateways/require.ts'
import { askProvider } from '../../src/money/ask-provider.ts'
import {
  idle,
  newPayment,
  openBilling,
  sendFake,
  until,
  type TestBilling,
  unhurried,
} from '../support/billing.ts'
import { onAnyDatabase, onPostgres, postgres } from '../support/databases.ts'
import { startReceiver } from '../outbound/receiver.ts'
import {
  keepActiveSpans,
  recordSpans,
  spanIdOf,
  traceIdOf,
  traceOf,
  type RecordedSpans,
} from './recorded-spans.ts'

const encryptionKey = randomBytes(32).toString('base64')
const optionsOf = ({ tracer }: RecordedSpans): BillingOptions => ({
  tracer,
  billing: { encryptionKey },
})

const made = (recorded: RecordedSpans, name: string) =>
  until(() => recorded.spans().some((span) => span.name === name), { what: `a span ${name}` })

async function onlyCall({ core }: Pick<TestBilling, 'core'>): Promise<string> {
  const { data } = await core.calls.list()
  assert.equal(data.length, 1)
  return data[0]?.id ?? ''
}

keepActiveSpans()

onAnyDatabase((engine) => {
  test('a callback, its event, listeners, delivery and forward are one trace, with the id of the call', async () => {
    const recorded = recordSpans()
    const shop = recordSpans()
    await using billing = await openBilling(engine, optionsOf(recorded))
    await using receiver = await startReceiver()
    const { core } = billing
    const { endpoint, secret } = await core.endpoints.create({ name: 'shop', url: receiver.url })
    receiver.secret = secret
    const own = (name: string) => shop.tracer.startActiveSpan(name, (span) => span.end())
    core.on('PaymentSucceeded', 'grantAccess', (_, { afterCommit }) => {
      own('in the listener')
      afterCommit(() => own('after the commit'))
    })
    core.on('PaymentSucceeded', 'sendReceipt', () => own('in the delivery'), { queued: true })
    await core.work()
    const { id: payment } = await newPayment(core)
    assert.equal((await sendFake(core, payment, 'success')).status, 200)
    await made(recorded, 'forward PaymentSucceeded')
    await made(recorded, 'delivery sendReceipt')
    await made(shop, 'after the commit')

    const call = await onlyCall(billing)
    const { data: events } = await core.events.list()
    const inTrace = recorded.spans().filter((span) => traceIdOf(span) === traceOf(call))
    const above = new Map(inTrace.map((span) => [spanIdOf(span), span.name]))
    const shape = inTrace.map(({ name, kind, parentSpanContext }) => {
      return [name, SpanKind[kind], above.get(parentSpanContext?.spanId ?? '') ?? 'the call']
    })
    assert.deepEqual(
      new Set(shape.map(String)),
      new Set([
        'callback,SERVER,the call',
        'process call,CONSUMER,the call',
        'dispatch PaymentSucceeded,PRODUCER,process call',
        'listener grantAccess,INTERNAL,dispatch PaymentSucceeded',
        'delivery sendReceipt,CONSUMER,the call',
        'forward PaymentSucceeded,CLIENT,the call',
      ]),
    )
    assert.equal(inTrace.length, 6)
    assert.ok(inTrace.every(({ status }) => status.code === SpanStatusCode.UNSET))

    const said = (name: string) => recorded.span(name).attributes
    const ofEvent = {
      'quittance.event.type': 'PaymentSucceeded',
      'quittance.event.id': events[0]?.id,
      'quittance.payment.id': payment,
      'quittance.gateway': 'fake',
    }
    const ofCall = { 'quittance.gateway': 'fake', 'quittance.call.id': call }
    assert.deepEqual(said('callback'), { ...ofCall, 'http.response.status_code': 200 })
    assert.deepEqual(said('process call'), {
      ...ofCall,
      'quittance.attempt': 1,
      'quittance.call.state': 'processed',
    })
    assert.deepEqual(said('dispatch PaymentSucceeded'), { ...ofEvent, 'quittance.source': 'call' })
    assert.deepEqual(said('listener grantAccess'), {
      ...ofEvent,
      'quittance.listener': 'grantAccess',
    })
    assert.deepEqual(said('delivery sendReceipt'), {
      ...ofEvent,
      'quittance.listener': 'sendReceipt',
      'quittance.attempt': 1,
    })
    assert.deepEqual(said('forward PaymentSucceeded'), {
      ...ofEvent,
      'quittance.endpoint.id': endpoint.id,
      'quittance.attempt': 1,
      'http.response.status_code': 204,
    })

    // The app's own spans: below the listener that made them.
    for (const [name, parent] of [
      ['in the listener', 'listener grantAccess'],
      ['after the commit', 'listener grantAccess'],
      ['in the delivery', 'delivery sendReceipt'],
    ] as const) {
      const span = shop.span(name)
      assert.equal(traceIdOf(span), traceOf(call), name)
      assert.equal(span.parentSpanContext?.spanId, spanIdOf(recorded.span(parent)), name)
    }
  })

  test('each of several calls of one batch has its own trace, and its events in it', async () => {
    const recorded = recordSpans()
    await using billing = await openBilling(engine, optionsOf(recorded))
    const { core } = billing
    core.on('PaymentSucceeded', 'grantAccess', () => {})
    const payments = await Promise.all(Array.from({ length: 5 }, () => newPayment(core)))
    await Promise.all(payments.map(({ id }) => sendFake(core, id, 'success')))
    await core.work()
    const listened = () => recorded.spans().filter(({ name }) => name === 'listener grantAccess')
    await until(() => listened().length === 5, { what: 'all are processed' })
    await idle(core)
    const { data: calls } = await core.calls.list()
    for (const { id, paymentId } of calls) {
      await until(() => namesIn(recorded, id).length === 4, { what: 'its spans have ended' })
      assert.deepEqual(namesIn(recorded, id), [
        'callback',
        'dispatch PaymentSucceeded',
        'listener grantAccess',
        'process call',
      ])
      const span = listened().find((one) => traceIdOf(one) === traceOf(id))
      assert.equal(span?.attributes['quittance.payment.id'], paymentId)
    }
  })

  test('within the request, the listener is in the trace of the call as well', async () => {
    const recorded = recordSpans()
    const { tracer } = recorded
    const queue = { connection: 'sync' }
    const listeners: BillingOptions['listeners'] = {
      grantAccess: { on: 'PaymentSucceeded', run: () => {} },
    }
    await using billing = await openBilling(engine, { tracer, listeners, billing: { queue } })
    const { id } = await newPayment(billing.core)
    assert.equal((await sendFake(billing.core, id, 'success')).status, 200)
    const call = await onlyCall(billing)
    assert.equal(traceIdOf(recorded.span('listener grantAccess')), traceOf(call))
    assert.equal(traceIdOf(recorded.span('process call')), traceOf(call))
  })

  test('what came without a call has a trace of its own, with the id of its event', async () => {
    const recorded = recordSpans()
    await using billing = await openBilling(engine, optionsOf(recorded))
    const { core } = billing
    core.on('PaymentCanceled', 'release', () => {})
    const { id } = await newPayment(core)
    await core.payments.cancel(id)
    const { data: events } = await core.events.list()
    const span = recorded.span('listener release')
    assert.equal(traceIdOf(span), traceOf(events[0]?.id ?? ''))
    assert.equal(
      recorded.span('dispatch PaymentCanceled').attributes['quittance.source'],
      'operator',
    )
  })

  test('a span that is active where a callback comes in and that of the callback lead to each other', async () => {
    const recorded = recordSpans()
    await using billing = await openBilling(engine, optionsOf(recorded))
    const { id } = await newPayment(billing.core)
    await recorded.tracer.startActiveSpan('POST', async (span) => {
      await sendFake(billing.core, id, 'success')
      span.end()
    })
    const [request, callback] = [recorded.span('POST'), recorded.span('callback')]
    assert.notEqual(traceIdOf(callback), traceIdOf(request))
    assert.deepEqual(
      callback.links.map(({ context }) => context.spanId),
      [spanIdOf(request)],
    )
    assert.deepEqual(
      request.links.map(({ context }) => context.spanId),
      [spanIdOf(callback)],
    )
    assert.equal(callback.kind, SpanKind.INTERNAL)
  })

  test('what a provider is asked is below what is active', async () => {
    const recorded = recordSpans()
    await using billing = await openBilling(engine, optionsOf(recorded))
    const { id } = await newPayment(billing.core)
    await recorded.tracer.startActiveSpan('look', async (span) => {
      await billing.core.payments.poll(id)
      span.end()
    })
    const { attributes, parentSpanContext, kind } = recorded.span('provider poll')
    assert.equal(parentSpanContext?.spanId, spanIdOf(recorded.span('look')))
    assert.deepEqual(attributes, {
      'quittance.gateway': 'fake',
      'quittance.operation': 'poll',
      'quittance.payment.id': id,
    })
    assert.equal(kind, SpanKind.CLIENT)
    const context = await billing.runtime.entitledContext()
    const of = requireGateway(context.processing.gateways, 'fake')
    const aboutNoPayment = { of, operation: 'read_subscription' } as const
    assert.equal(await askProvider(aboutNoPayment, context, async () => 'active'), 'active')
    assert.deepEqual(recorded.span('provider read_subscription').attributes, {
      'quittance.gateway': 'fake',
      'quittance.operation': 'read_subscription',
    })
    assert.equal(trace.getActiveSpan(), undefined)
  })
})

function namesIn(recorded: RecordedSpans, call: string): readonly string[] {
  const spans = recorded.spans().filter((span) => traceIdOf(span) === traceOf(call))
  return spans.map(({ name }) => name).toSorted()
}

onPostgres(() => {
  test('two processes put what they do about one call into one trace', async () => {
    const taking = recordSpans()
    const working = recordSpans()
    await using billing = await openBilling(postgres, optionsOf(taking))
    const url = billing.url ?? ''
    await using other = createCore({ ...optionsOf(working), database: { url } }, unhurried)
    other.on('PaymentSucceeded', 'sendReceipt', () => {}, { queued: true })
    await other.work()
    const { id } = await newPayment(billing.core)
    await sendFake(billing.core, id, 'success')
    await made(working, 'delivery sendReceipt')
    const call = await onlyCall(billing)
    assert.equal(traceIdOf(taking.span('callback')), traceOf(call))
    for (const span of working.spans()) assert.equal(traceIdOf(span), traceOf(call), span.name)
    assert.ok(working.spans().length >= 3)
  })

  test('a sampler by the trace id keeps the same calls in every process, each whole', async () => {
    const taking = recordSpans(new TraceIdRatioBasedSampler(0.5))
    const working = recordSpans(new TraceIdRatioBasedSampler(0.5))
    await using billing = await openBilling(postgres, optionsOf(taking))
    const url = billing.url ?? ''
    await using other = createCore({ ...optionsOf(working), database: { url } }, unhurried)
    other.on('PaymentSucceeded', 'grantAccess', () => {})
    await other.work()
    for (let count = 0; count < 40; count += 1) {
      const { id } = await newPayment(billing.core)
      await sendFake(billing.core, id, 'success')
    }
    const processed = async () =>
      (await billing.core.calls.list({ state: 'processed', limit: 100 })).data.length === 40
    await until(processed, { what: 'all are processed' })
    const namedIn = (recorded: RecordedSpans, name: string) =>
      new Set(
        recorded
          .spans()
          .filter((one) => one.name === name)
          .map(traceIdOf),
      )
    const kept = namedIn(taking, 'callback')
    await until(() => namedIn(working, 'process call').size === kept.size, { what: 'they ended' })
    assert.deepEqual(namedIn(working, 'process call'), kept)
    assert.deepEqual(namedIn(working, 'listener grantAccess'), kept)
    assert.ok(kept.size > 0 && kept.size < 40, `${kept.size} of 40`)
  })
})
