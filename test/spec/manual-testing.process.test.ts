import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onPostgres } from '../support/databases.ts'
import { apiToken } from '../support/deployment.ts'
import { startWorker } from '../support/process.ts'
import { until } from '../support/billing.ts'
import { ok, startSpec } from './spec-service.ts'

onPostgres((engine) => {
  describe('Manual testing notes', () => {
    test('1, 2, 3: a worker must run; another amount is Ignored; failed, then success fire both', async () => {
      await using service = await startSpec(engine, { args: ['--no-worker'] })
      const payment = await service.create({ gateway: 'stripe' })
      const type = 'checkout.session.async_payment_failed'
      assert.deepEqual((await service.stripe(payment, { type })).body, ok)
      assert.deepEqual((await service.payment(payment.id)).status, 'pending', 'without a worker')
      const worker = await startWorker(service)
      await until(async () => (await service.payment(payment.id)).status === 'failed', {
        what: 'the worker has processed it',
      })
      assert.equal((await service.stripe(payment, { object: { amount_total: 1 } })).status, 200)
      const mismatch = await service.lastCall()
      assert.deepEqual([mismatch.state, mismatch.needs_review], ['ignored', true])
      await service.stripe(payment)
      await service.lastCall()
      const { status, events } = await service.payment(payment.id)
      assert.equal(status, 'paid')
      assert.deepEqual(events.map((event) => event.type).toSorted(), [
        'PaymentFailed',
        'PaymentSucceeded',
      ])
      assert.equal((await worker.stop()).code, 0)
    })

    test('4, 5: APP_NGROK_URL wins for every generated URL, whatever host the tunnel sends', async () => {
      await using service = await startSpec(engine, {
        env: { APP_URL: 'https://pay.example.test', APP_NGROK_URL: 'https://t1.tunnel.test' },
      })
      const headers = { authorization: `Bearer ${apiToken}` }
      const { body } = await service.send('GET', '/billing/api/gateways', { headers })
      const urls = Object.values(body as Record<string, { webhook_url: string }>)
      assert.ok(urls.length > 0)
      for (const { webhook_url } of urls) {
        assert.match(webhook_url, /^https:\/\/t1\.tunnel\.test\/billing\/webhooks\//)
      }
      const payment = await service.create()
      assert.match(JSON.stringify(payment), /https:\/\/t1\.tunnel\.test\/billing\/fake\/checkout\//)
      const forwarded = { host: 'localhost', 'x-forwarded-host': 't1.tunnel.test' }
      const callback = JSON.stringify({ payment_id: payment.id, result: 'success' })
      assert.equal((await service.post('fake', callback, forwarded)).status, 200)
      const call = await service.lastCall()
      assert.equal(call.url, 'https://t1.tunnel.test/billing/webhooks/fake')
      // What the note promises to see through the tunnel.
      assert.equal((await service.post('stripe', '{}', forwarded)).status, 403)
      assert.equal((await service.send('GET', '/billing/webhooks/fake')).status, 405)
    })
  })
})
