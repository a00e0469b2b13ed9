import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainAcknowledgment, valid, type Gateway } from '../../src/gateways/gateway.ts'
import { fake } from '../../src/gateways/fake/index.ts'
import { ignored } from '../../src/payments/outcome.ts'
import { newPayment, openBilling, sendFake, sendJson, idle, until } from '../support/billing.ts'
import { forEachDatabase } from '../support/databases.ts'

/** Its provider answers when the test says so. */
function sluggishGateway() {
  const answered = Promise.withResolvers<void>()
  let asked = 0
  const gateway: Gateway = {
    ...fake,
    name: 'sluggish',
    credentials: {},
    verify: () => valid,
    acknowledge: () => plainAcknowledgment,
    interpret: async (_payload, { signal }) => {
      asked += 1
      const over = new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      })
      await Promise.race([answered.promise, over])
      return [ignored('no_outcome')]
    },
  }
  return { gateway, answer: answered.resolve, asked: () => asked }
}

forEachDatabase((engine) => {
  test('a gateway whose provider does not answer holds up no other gateway', async () => {
    const sluggish = sluggishGateway()
    await using opened = await openBilling(engine, { extraGateways: [sluggish.gateway] })
    const { core } = opened
    for (let calls = 0; calls < 300; calls += 1) await sendJson(core, 'sluggish', { calls })
    const payment = await newPayment(core)
    await sendFake(core, payment.id, 'success')
    await core.work()

    const statusOf = async () => (await core.payments.get(payment.id))?.status
    await until(async () => (await statusOf()) === 'paid', { what: 'the other gateway’s is paid' })
    const waiting = await core.calls.list({ gateway: 'sluggish', state: 'processed' })
    assert.deepEqual(waiting.data, [], 'none of the slow ones has had its answer')
    // Nor does it ask the provider for all of them at once.
    assert.ok(sluggish.asked() < 200, `${sluggish.asked()} asked`)

    const second = await newPayment(core)
    await sendFake(core, second.id, 'success')
    await until(async () => (await core.payments.get(second.id))?.status === 'paid', {
      what: 'the next one is paid',
    })
    sluggish.answer()
    await idle(core, 60_000)
    const done = await core.calls.list({ gateway: 'sluggish', state: 'ignored', limit: 100 })
    assert.equal(done.data.length, 100)
  })
})
