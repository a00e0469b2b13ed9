import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { onAnyDatabase } from '../support/databases.ts'
import { sessionEvent, signedHeaders } from '../support/stripe-callbacks.ts'
import { startSpec, type SpecService } from './spec-service.ts'

// `exception`: errors.test.ts; retention: limits.test.ts.

onAnyDatabase((engine) => {
  let service: SpecService
  before(async () => {
    service = await startSpec(engine, { env: { APP_URL: 'https://pay.example.test' } })
  })
  after(() => service[Symbol.asyncDispose]())

  const post = async (headers: Record<string, string> = {}, query = '') => {
    const payment = await service.create({ gateway: 'stripe' })
    const change = { payment: { ...payment, amount: BigInt(payment.amount) } }
    const body = JSON.stringify(sessionEvent(change))
    const reply = await service.send('POST', `/billing/webhooks/stripe${query}`, {
      body,
      headers: { ...signedHeaders(body), ...headers },
    })
    assert.equal(reply.status, 200)
    return { payment, body, call: await service.lastCall() }
  }

  describe('Stored webhook call', () => {
    test('one record per accepted callback; a record existing means that the signature passed', async () => {
      const before = await service.countCalls()
      await post()
      assert.equal(await service.countCalls(), before + 1)
      assert.equal((await service.post('stripe', '{}', signedHeaders('[]'))).status, 403)
      assert.equal((await service.post('nobody', '{}')).status, 404)
      assert.equal(await service.countCalls(), before + 1)
    })

    test('url: the request’s own, below our public origin', async () => {
      const { call } = await post({ 'x-forwarded-host': 'evil.example' }, '?shop=7')
      assert.equal(call.url, 'https://pay.example.test/billing/webhooks/stripe?shop=7')
    })

    test('headers: kept, with every credential header redacted', async () => {
      const credentials = {
        authorization: 'Bearer canary',
        'Proxy-Authorization': 'Basic canary',
        COOKIE: 'session=canary',
        'X-Api-Key': 'canary',
      }
      const { call } = await post({ ...credentials, 'x-request-id': 'r-1' })
      for (const name of [...Object.keys(credentials), 'stripe-signature']) {
        assert.equal(call.headers[name.toLowerCase()], '[redacted]', name)
      }
      assert.equal(call.headers['x-request-id'], 'r-1')
      assert.doesNotMatch(JSON.stringify(call), /canary|v1=/)
      assert.doesNotMatch(service.running.stderr.join('\n'), /canary|v1=/)
    })

    test('payload: the parsed callback', async () => {
      const { call, body } = await post()
      assert.deepEqual(call.payload, JSON.parse(body))
    })

    test('dedup claims: {type}:{status}:{reference}, on the call that claimed it', async () => {
      const { call, payment, body } = await post()
      assert.deepEqual(call.dedup_claims, [`payment:paid:${payment.id}`])
      // Another delivery header makes it no other callback: what is unsigned never counts.
      await service.post('stripe', body, { ...signedHeaders(body), 'x-delivery-id': 'another' })
      const again = await service.lastCall()
      assert.notEqual(again.id, call.id)
      assert.deepEqual([again.dedup_claims, again.outcome?.[0]?.result], [[], 'duplicate'])
      assert.equal((await service.payment(payment.id)).events.length, 1)
    })
  })
})
