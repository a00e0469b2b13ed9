import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HTTPException } from 'hono/http-exception'
import { createApp } from '../../src/http/app.ts'
import { forEachWay, signingSecret, startService, type Service } from '../http/service.ts'
import { sessionEvent, signedHeaders } from '../support/stripe-callbacks.ts'
import { handClock } from '../support/hand-clock.ts'
import { readMetrics, valueOf } from './counting.ts'

const payment = { id: '0199f0c0-0000-7000-8000-000000000001', amount: 100n, currency: 'USD' }
const body = JSON.stringify(sessionEvent({ payment }))
const stripe = '/billing/webhooks/stripe'

/** The samples of a metric whose value is above 0, as `labels: value`. */
async function read(service: Service, name: string): Promise<Record<string, number>> {
  const { text } = await service.core.metrics()
  const samples = readMetrics(text).get(`quittance_${name}`)?.samples ?? []
  return Object.fromEntries(
    samples
      .filter(({ value }) => value > 0)
      .map(({ labels, value }) => [Object.values(labels).join(' ').trim(), value]),
  )
}

forEachWay(({ plain }) => {
  test('each answer of the route is counted once, by its gateway; a stranger names none', async () => {
    await using service = await startService({ work: false, plain })
    const statuses = [
      await service.post(stripe, body, signedHeaders(body, signingSecret)),
      await service.post(stripe, body, signedHeaders(body, signingSecret)),
      await service.post(stripe, body, signedHeaders(body, 'whsec_of_somebody_else_0123456789')),
      await service.post(stripe, body),
      await service.post('/billing/webhooks/paddle', body),
      await service.post('/billing/webhooks/alpha', body),
      await service.post('/billing/webhooks/nobody', body),
      await service.post('/billing/webhooks/somebody', body),
      await service.post('//billing/webhooks/stripe', body),
      await service.post(stripe, body, { 'content-encoding': 'gzip' }),
      await service.post(stripe, 'x'.repeat(300_000)),
      await service.post('/billing/webhooks/fake', '{}', { 'content-type': 'application/json' }),
    ].map(({ status }) => status)
    assert.deepEqual(statuses, [200, 200, 403, 403, 403, 403, 404, 404, 404, 415, 413, 422])
    assert.deepEqual(await read(service, 'callbacks_total'), {
      unknown_gateway: 2,
      'stripe accepted': 2,
      'stripe refused': 3,
      'stripe wrong_address': 1,
      'stripe too_large': 1,
      'stripe encoding': 1,
      'paddle refused': 1,
      'fake malformed': 1,
    })
    assert.deepEqual(await read(service, 'callbacks_refused_total'), {
      'stripe signature_mismatch': 1,
      'stripe signature_missing': 2,
      'paddle not_configured': 1,
    })
    assert.deepEqual(await read(service, 'verified_by_total'), { 'stripe 1': 2 })
    const { text } = await service.core.metrics()
    const timed = valueOf(readMetrics(text), 'quittance_callback_seconds_count', {
      gateway: 'stripe',
    })
    assert.equal(timed, 5)
  })
})

test('what middleware answers is counted, whether it returns or throws; what it passes on, once', async () => {
  await using service = await startService({ work: false })
  const { core, log } = service
  const request = (app: ReturnType<typeof createApp>) =>
    app.request(stripe, { method: 'POST', body, headers: signedHeaders(body, signingSecret) })
  const options = { maxBodyBytes: 100_000, log }
  const passing = createApp(core, { ...options, webhookMiddleware: [(_c, next) => next()] })
  const returning = createApp(core, {
    ...options,
    webhookMiddleware: [async (c) => c.text('slower', 429)],
  })
  const throwing = createApp(core, {
    ...options,
    webhookMiddleware: [
      () => {
        throw new HTTPException(429)
      },
    ],
  })
  const asking = createApp(core, {
    ...options,
    webhookMiddleware: [async (c) => c.text('who are you?', 401)],
  })
  const hiding = createApp(core, { ...options, webhookMiddleware: [async (c) => c.notFound()] })
  const apps = [passing, returning, throwing, asking, hiding]
  const statuses: number[] = []
  for (const app of apps) statuses.push((await request(app)).status)
  assert.deepEqual(statuses, [200, 429, 429, 401, 404])
  assert.deepEqual(await read(service, 'callbacks_total'), {
    'stripe accepted': 1,
    'stripe throttled': 2,
    'stripe other': 2,
  })
})

test('which of two secrets verified a callback is counted: during a rotation one sees the end of it', async () => {
  const secrets = `whsec_the_new_one_0123456789,${signingSecret}`
  await using service = await startService({
    work: false,
    billing: { gateways: { stripe: { signing_secret: secrets } } },
  })
  for (const secret of [signingSecret, 'whsec_the_new_one_0123456789', signingSecret]) {
    await service.post(stripe, body, signedHeaders(body, secret))
  }
  assert.deepEqual(await read(service, 'verified_by_total'), { 'stripe 1': 1, 'stripe 2': 2 })
})

test('the database is asked for its gauges once in five seconds, however many want them', async (t) => {
  await using service = await startService({ work: false })
  const clock = handClock(t)
  const waiting = async () => (await read(service, 'calls'))['pending'] ?? 0
  assert.equal(await waiting(), 0)
  await service.post(stripe, body, signedHeaders(body, signingSecret))
  clock.pass(5_000)
  assert.equal(await waiting(), 0)
  clock.pass(1)
  assert.equal(await waiting(), 1)
})
