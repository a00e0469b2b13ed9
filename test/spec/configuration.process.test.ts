import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { apiToken } from '../support/deployment.ts'
import { onBothDatabases, onPostgres } from '../support/databases.ts'
import { cameAt } from '../support/id-made-at.ts'
import { runHosted } from '../support/command-host.ts'
import { startWorker } from '../support/process.ts'
import { until } from '../support/billing.ts'
import { startSpec, type SpecService } from './spec-service.ts'

// `webhook.path` and its two defaults: webhook-intake.test.ts; `webhook.middleware` and the default
// of `webhook.prune_after_days`: limits.test.ts.

interface StoredCall {
  readonly state: string
  readonly queue: string
}

async function callOf(service: SpecService, paymentId: string): Promise<StoredCall | undefined> {
  const headers = { authorization: `Bearer ${apiToken}` }
  const { body } = await service.send('GET', '/billing/api/webhook-calls?limit=100', { headers })
  const { data } = body as { readonly data: readonly (StoredCall & { readonly id: string })[] }
  for (const { id } of data) {
    const one = await service.send('GET', `/billing/api/webhook-calls/${id}`, { headers })
    const call = one.body as StoredCall & { readonly payload: { readonly payment_id: string } }
    if (call.payload.payment_id === paymentId) return call
  }
  return undefined
}

onBothDatabases((engine) => {
  describe('Configuration', () => {
    let service: SpecService
    before(async () => {
      service = await startSpec(engine, { env: { BILLING_QUEUE_CONNECTION: 'sync' } })
    })
    after(() => service[Symbol.asyncDispose]())

    test('billing.queue.connection sync: the call is processed when the answer comes', async () => {
      const payment = await service.create()
      assert.equal((await service.fake(payment.id, 'success')).status, 200)
      assert.equal((await service.payment(payment.id)).status, 'paid')
    })

    test('billing.queue.queue unset: the application default', async () => {
      const payment = await service.create()
      await service.fake(payment.id, 'success')
      assert.equal((await service.lastCall()).queue, 'default')
    })
  })
})

onPostgres((engine) => {
  test('billing.queue.queue: written on the call; work --queue a,b takes those and no other', async () => {
    await using service = await startSpec(engine, {
      args: ['--no-worker'],
      config: `export default { billing: { queue: { queue: 'billing' } } }`,
    })
    const outsider = await startWorker({ ...service, args: ['--queue', 'default,mail'] })
    const payment = await service.create()
    assert.equal((await service.fake(payment.id, 'success')).status, 200)
    // A later call that it may take: it has looked when that one is processed.
    const later = await service.create()
    await service.fake(later.id, 'success')
    const database = await service.connect()
    await database.pool.query(
      `update billing.webhook_calls set queue = 'mail' where payload->>'payment_id' = $1`,
      [later.id],
    )
    await database.close()
    await until(async () => (await service.payment(later.id)).status === 'paid', {
      what: 'the call in its own queue is processed',
    })
    assert.deepEqual(
      [(await callOf(service, payment.id))?.queue, (await callOf(service, payment.id))?.state],
      ['billing', 'pending'],
    )
    const insider = await startWorker({ ...service, args: ['--queue', 'mail,billing'] })
    await until(async () => (await service.payment(payment.id)).status === 'paid', {
      what: 'the call is processed',
    })
    for (const { code } of await Promise.all([outsider.stop(), insider.stop()])) {
      assert.equal(code, 0)
    }
  })

  test('billing.queue.queue: env BILLING_QUEUE wins; without --queue a worker takes all queues', async () => {
    await using service = await startSpec(engine, {
      args: ['--no-worker'],
      config: `export default { billing: { queue: { queue: 'billing' } } }`,
      env: { BILLING_QUEUE: 'urgent' },
    })
    const payment = await service.create()
    await service.fake(payment.id, 'success')
    assert.equal((await callOf(service, payment.id))?.queue, 'urgent')
    const worker = await startWorker(service)
    await until(async () => (await service.payment(payment.id)).status === 'paid', {
      what: 'the call is processed',
    })
    assert.equal((await worker.stop()).code, 0)
  })

  test('billing.queue.connection sync: a job that fails answers 500; serve makes its other attempts', async () => {
    await using service = await startSpec(engine, {
      args: ['--no-worker'],
      env: { BILLING_QUEUE_CONNECTION: 'sync' },
      config: `export default { listeners: { shop: { on: 'PaymentSucceeded', run() { throw new Error('closed') } } } }`,
    })
    const payment = await service.create()
    const reply = await service.fake(payment.id, 'success')
    assert.deepEqual([reply.status, reply.body], [500, { message: 'processing failed' }])
    assert.equal((await callOf(service, payment.id))?.state, 'pending')
    const database = await service.connect()
    await until(
      async () => {
        const { rowCount } = await database.pool.query(
          `update billing.webhook_calls set next_attempt_at = clock_timestamp()
           where state <> 'failed'`,
        )
        return rowCount === 0
      },
      { what: 'it has had all its attempts' },
    )
    await database.close()
    const call = await service.lastCall()
    assert.deepEqual([call.state, call.attempts], ['failed', 3])
    assert.match(call.exception ?? '', /closed/)
  })

  test('webhook.prune_after_days: a shorter window prunes what the default keeps', async () => {
    await using service = await startSpec(engine, {
      config: 'export default { webhook: { prune_after_days: 5 } }',
    })
    const payment = await service.create()
    await service.fake(payment.id, 'success')
    await service.lastCall()
    const database = await service.connect()
    await database.pool.query(
      `update billing.webhook_calls set ${cameAt("now() - interval '6 days'")}`,
    )
    await database.close()
    const env = { ...service.env, BILLING_WEBHOOK_PRUNE_AFTER_DAYS: '7' }
    assert.equal((await runHosted(['prune'], { cwd: service.cwd, env })).code, 0)
    assert.equal(await service.countCalls(), 1, 'the environment wins over the file')
    assert.equal((await runHosted(['prune'], service)).code, 0)
    assert.equal(await service.countCalls(), 0)
  })
})
