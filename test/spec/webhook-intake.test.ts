import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { builtin } from '../../src/gateways/builtin.ts'
import { onEmbedded, onPostgres } from '../support/databases.ts'
import { apiToken } from '../support/deployment.ts'
import { sessionEvent, signedHeaders } from '../support/stripe-callbacks.ts'
import { ok, startSpec, type SpecService } from './spec-service.ts'

const canonicalPath = '/billing/webhooks/{gateway}'
const otherPath = '/webhook/billing/{gateway}'

onEmbedded((engine) => {
  let service: SpecService
  before(async () => {
    service = await startSpec(engine, { env: { APP_URL: 'https://pay.example.test' } })
  })
  after(() => service[Symbol.asyncDispose]())

  describe('Webhook intake', () => {
    test('method: POST is accepted, every other answers 405 and stores nothing', async () => {
      const payment = await service.create()
      assert.equal((await service.fake(payment.id, 'success')).status, 200)
      const before = await service.countCalls()
      for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const { status } = await service.send(method, '/billing/webhooks/fake')
        assert.equal(status, 405, method)
      }
      assert.equal(await service.countCalls(), before)
    })

    for (const path of [canonicalPath, otherPath]) {
      test(`path: ${path} is answered by default`, async () => {
        const payment = await service.create()
        const body = JSON.stringify({ payment_id: payment.id, result: 'success' })
        const reply = await service.send('POST', path.replace('{gateway}', 'fake'), { body })
        assert.deepEqual([reply.status, reply.body], [200, ok])
        assert.equal((await service.lastCall()).payment_id, payment.id)
      })
    }

    test('path: generated callback URLs have the canonical default path', async () => {
      const url = await webhookUrl(service, 'stripe')
      assert.equal(url, 'https://pay.example.test/billing/webhooks/stripe')
    })

    test('path parameter: the name of a registered gateway, or one of its aliases', async () => {
      for (const { name, aliases } of builtin) {
        for (const label of [name, ...aliases]) {
          assert.notEqual((await service.post(label, '')).status, 404, label)
        }
      }
      for (const label of ['paypal', 'Fake', 'STRIPE', '%20fake', '__proto__']) {
        assert.equal((await service.post(label, '')).status, 404, label)
      }
    })

    for (const type of [
      'application/json',
      'application/x-www-form-urlencoded',
      'application/json garbage',
      'application/json\ta',
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/xml',
      undefined,
    ]) {
      test(`request body: the body itself is looked at, so JSON sent as ${type} is accepted`, async () => {
        const payment = await service.create({ gateway: 'stripe' })
        const change = { payment: { ...payment, amount: BigInt(payment.amount) } }
        const body = JSON.stringify(sessionEvent(change), null, 1)
        const headers = new Headers(signedHeaders(body))
        if (type === undefined) headers.delete('content-type')
        else headers.set('content-type', type)
        assert.equal((await service.post('stripe', body, headers)).status, 200)
        const call = await service.lastCall()
        assert.deepEqual(call.payload, JSON.parse(body))
        assert.equal((await service.payment(payment.id)).status, 'paid')
      })
    }

    test('request body: a form or XML under the type application/json is not JSON', async () => {
      const payment = await service.create()
      for (const body of [`payment_id=${payment.id}&result=success`, '<a/>']) {
        const reply = await service.post('fake', body, { 'content-type': 'application/json' })
        assert.equal(reply.status, 422)
      }
      assert.equal((await service.payment(payment.id)).status, 'pending')
    })

    test('request body: query parameters are never merged into it', async () => {
      const payment = await service.create()
      const query = `payment_id=${payment.id}&result=success`
      const path = `/billing/webhooks/fake?${query}`
      for (const body of ['', '{}', JSON.stringify({ result: 'success' })]) {
        assert.equal((await service.send('POST', path, { body })).status, 422, body)
      }
      const other = await service.create()
      const body = JSON.stringify({ payment_id: other.id, result: 'failure' })
      assert.equal((await service.send('POST', path, { body })).status, 200)
      await service.lastCall()
      assert.equal((await service.payment(other.id)).status, 'failed')
      assert.equal((await service.payment(payment.id)).status, 'pending')
    })

    test('request headers: the signature header alone decides, under both of its names', async () => {
      for (const name of ['stripe-signature', 'alpha-signature']) {
        const body = JSON.stringify({ type: 'a', name })
        const signature = signedHeaders(body)['stripe-signature'] ?? ''
        assert.equal((await service.post('alpha', body, { [name]: signature })).status, 200)
        assert.equal((await service.post('stripe', body, { [name]: signature })).status, 200)
        assert.equal((await service.post('stripe', body, { 'x-sign': signature })).status, 403)
      }
    })

    test('response 200: a JSON object with the one field message, value ok', async () => {
      const payment = await service.create()
      const reply = await service.fake(payment.id, 'failure')
      assert.deepEqual([reply.status, reply.body], [200, { message: 'ok' }])
      assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
    })

    test('response 403: signature invalid', async () => {
      const reply = await service.post('stripe', '{}', { 'stripe-signature': 't=1,v1=00' })
      assert.deepEqual([reply.status, reply.body], [403, { message: 'forbidden' }])
    })

    test('response 404: {gateway} is not registered', async () => {
      const reply = await service.post('wayforpay2', '{}')
      assert.deepEqual([reply.status, reply.body], [404, { message: 'unknown gateway' }])
    })

    test('order of checks: gateway lookup (404), then signature (403), then storage', async () => {
      const before = await service.countCalls()
      const body = '{"type":"a"}'
      const wrong = { 'stripe-signature': 't=1,v1=00' }
      assert.equal((await service.post('nobody', body, wrong)).status, 404)
      assert.equal((await service.post('stripe', body, wrong)).status, 403)
      assert.equal(await service.countCalls(), before)
      assert.equal((await service.post('stripe', body, signedHeaders(body))).status, 200)
      assert.equal(await service.countCalls(), before + 1)
    })
  })
})

// A process each: the server starts them in a third of the time.
onPostgres((engine) => {
  describe('Webhook intake', () => {
    test('path: a configured webhook.path replaces both; generated callback URLs follow it', async () => {
      await using moved = await startSpec(engine, {
        env: { APP_URL: 'https://pay.example.test', BILLING_WEBHOOK_PATH: 'hooks/{gateway}/in' },
      })
      const payment = await moved.create()
      const body = JSON.stringify({ payment_id: payment.id, result: 'success' })
      const statusAt = async (path: string) => (await moved.send('POST', path, { body })).status
      assert.equal(await statusAt('/hooks/fake/in'), 200)
      assert.equal(await statusAt(canonicalPath.replace('{gateway}', 'fake')), 404)
      assert.equal(await statusAt(otherPath.replace('{gateway}', 'fake')), 404)
      assert.equal(await webhookUrl(moved, 'fake'), 'https://pay.example.test/hooks/fake/in')
    })

    test('response 200 means accepted and queued, not processed', async () => {
      await using idle = await startSpec(engine, { args: ['--no-worker'] })
      const payment = await idle.create()
      assert.equal((await idle.fake(payment.id, 'success')).status, 200)
      const call = await onlyCall(idle)
      assert.deepEqual([call.state, call.attempts], ['pending', 0])
      assert.equal((await idle.payment(payment.id)).status, 'pending')
    })

    test('response 403: every built-in gateway’s route exists even when unconfigured', async () => {
      await using bare = await startSpec(engine, {
        env: { STRIPE_SIGNING_SECRET: '', BILLING_FAKE: 'off' },
      })
      for (const { name } of builtin) {
        const reply = await bare.post(name, '{}')
        assert.deepEqual([reply.status, reply.body], [403, { message: 'forbidden' }], name)
      }
    })
  })
})

async function webhookUrl(service: SpecService, gateway: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${apiToken}` }
  const { body } = await service.send('GET', '/billing/api/gateways', { headers })
  return (body as Record<string, { readonly webhook_url: string }>)[gateway]?.webhook_url
}

async function onlyCall(service: SpecService) {
  const headers = { authorization: `Bearer ${apiToken}` }
  const { body } = await service.send('GET', '/billing/api/webhook-calls', { headers })
  const { data } = body as { readonly data: readonly { state: string; attempts: number }[] }
  assert.equal(data.length, 1)
  assert.ok(data[0])
  return data[0]
}
