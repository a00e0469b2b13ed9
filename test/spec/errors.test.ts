import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { until } from '../support/billing.ts'
import { onEmbedded, postgres } from '../support/databases.ts'
import { signedHeaders, signingSecret } from '../support/stripe-callbacks.ts'
import { closing, ok, startSpec, type SpecService } from './spec-service.ts'

// The listener fails for one amount, so that every other row meets a listener that works.
const config = `
export default {
  listeners: {
    mourn: {
      on: 'PaymentFailed',
      run(event) {
        if (event.payment.amount === 666n) throw new Error('the ledger is closed')
      },
    },
  },
}
`

onEmbedded((engine) => {
  let service: SpecService
  before(async () => {
    service = await startSpec(engine, { config })
  })
  after(() => service[Symbol.asyncDispose]())

  const logOf = async (call: string, message: string) => {
    const find = () =>
      service.logged().find((line) => line['call'] === call && line['msg'] === message)
    await until(() => find() !== undefined, { what: `the log says ${JSON.stringify(message)}` })
    return find()
  }

  describe('Errors', () => {
    test('{gateway} not registered: HTTP 404', async () => {
      const reply = await service.post('paypal', '{}')
      assert.deepEqual([reply.status, reply.body], [404, { message: 'unknown gateway' }])
    })

    test('signature invalid: HTTP 403, and the log says why', async () => {
      const body = '{"type":"a"}'
      const before = await service.countCalls()
      const reply = await service.post('stripe', body, signedHeaders(`${body} `))
      assert.deepEqual([reply.status, reply.body], [403, { message: 'forbidden' }])
      assert.equal(await service.countCalls(), before)
      const refusal = () => service.logged().find((line) => line['reason'] === 'signature_mismatch')
      await until(() => refusal() !== undefined, { what: 'the refusal is logged' })
      assert.deepEqual([refusal()?.['gateway'], refusal()?.['level']], ['stripe', 40])
    })

    test('a stale timestamp: HTTP 403, and the log says so', async () => {
      const body = '{"type":"a"}'
      const stale = Math.floor(Date.now() / 1000) - 310
      const v1 = createHmac('sha256', signingSecret).update(`${stale}.${body}`).digest('hex')
      const reply = await service.post('stripe', body, {
        'stripe-signature': `t=${stale},v1=${v1}`,
      })
      assert.deepEqual([reply.status, reply.body], [403, { message: 'forbidden' }])
      await service.running.line(/"reason":"timestamp_too_old"/)
    })

    test('wrong HTTP method: HTTP 405', async () => {
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']) {
        const reply = await service.send(method, '/billing/webhooks/fake')
        assert.equal(reply.status, 405, method)
        assert.equal(reply.headers.get('allow'), 'POST', method)
      }
    })

    for (const [what, reference, reason] of [
      ['payment unknown', randomUUID(), 'unknown_payment'],
      ['reference not a UUID', 'order-42', 'invalid_reference'],
    ] as const) {
      test(`${what}: HTTP 200; result ignored; the job does not fail`, async () => {
        const reply = await service.fake(reference, 'success')
        assert.deepEqual([reply.status, reply.body], [200, ok])
        const call = await service.lastCall()
        assert.equal(call.state, 'ignored')
        assert.deepEqual(
          [call.outcome?.[0]?.result, call.outcome?.[0]?.reason],
          ['ignored', reason],
        )
        assert.deepEqual([call.attempts, call.exception, call.dedup_claims], [0, null, []])
      })
    }

    for (const [what, object] of [
      ['amount', { amount_total: 4998 }],
      ['currency', { currency: 'eur' }],
    ] as const) {
      test(`paid callback with another ${what}: HTTP 200; Ignored; warning logged; payment stays pending`, async () => {
        const payment = await service.create({ gateway: 'stripe' })
        const reply = await service.stripe(payment, { object })
        assert.deepEqual([reply.status, reply.body], [200, ok])
        const call = await service.lastCall()
        assert.deepEqual([call.state, call.needs_review], ['ignored', true])
        const line = await logOf(call.id, 'paid webhook amount/currency mismatch')
        assert.equal(line?.['level'], 40)
        const after = await service.payment(payment.id)
        assert.deepEqual([after.status, after.events], ['pending', []])
      })
    }

    for (const type of ['checkout.session.expired', 'checkout.session.async_payment_failed']) {
      test(`callback claiming non-paid status for a paid payment (${type}): HTTP 200; ignored and logged`, async () => {
        const payment = await service.create({ gateway: 'stripe' })
        await service.stripe(payment)
        await service.lastCall()
        // An event gets its place in the feed a moment after its commit.
        const isPlaced = async () =>
          (await service.payment(payment.id)).events.every(({ position }) => position !== null)
        await until(isPlaced, { what: 'its event is in the feed' })
        const paid = await service.payment(payment.id)
        assert.equal(paid.status, 'paid')
        const reply = await service.stripe(payment, { type })
        assert.deepEqual([reply.status, reply.body], [200, ok])
        const call = await service.lastCall()
        assert.equal(call.outcome?.[0]?.reason, 'already_paid')
        assert.ok(await logOf(call.id, 'callback ignored'))
        assert.deepEqual(await service.payment(payment.id), paid)
      })
    }

    test('gateway has no secret configured: HTTP 403 (fails closed), whatever is signed', async () => {
      await using bare = await startSpec(postgres, { env: { STRIPE_SIGNING_SECRET: '' } })
      const body = '{"type":"a"}'
      for (const headers of [{}, signedHeaders(body), signedHeaders(body, ' ')]) {
        const reply = await bare.post('stripe', body, headers)
        assert.deepEqual([reply.status, reply.body], [403, { message: 'forbidden' }])
      }
      assert.equal(await bare.countCalls(), 0)
      await bare.running.line(/"gateway":"stripe","reason":"not_configured"/)
    })

    test('job exception: retried; after the last attempt the exception is saved on the stored call', async () => {
      const payment = await service.create({ amount: 666 })
      const reply = await service.fake(payment.id, 'failure')
      assert.deepEqual([reply.status, reply.body], [200, ok])
      await using database = await closing(service.connect())
      const attempted = (attempts: number) =>
        until(
          async () => {
            const { rows } = await database.pool.query(
              `select 1 from billing.webhook_calls where payload->>'payment_id' = $1
               and attempts = $2 and state <> 'processing'`,
              [payment.id, attempts],
            )
            return rows.length === 1
          },
          { what: `attempt ${attempts} is over` },
        )
      for (const attempts of [1, 2]) {
        await attempted(attempts)
        // The back-off itself has its own test; here its time has come.
        await database.pool.query(
          `update billing.webhook_calls set next_attempt_at = now() where state = 'pending'`,
        )
      }
      await attempted(3)
      const call = await service.lastCall()
      assert.deepEqual([call.state, call.attempts, call.dedup_claims], ['failed', 3, []])
      assert.match(call.exception ?? '', /the ledger is closed/)
      assert.match(call.exception ?? '', /at run \(.*quittance\.config\.js/, 'with its stack')
      assert.deepEqual(call.payload, { payment_id: payment.id, result: 'failure' })
      const after = await service.payment(payment.id)
      assert.deepEqual([after.status, after.events], ['failed', []])
    })
  })
})
