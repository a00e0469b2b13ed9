import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createNumbers } from '../../src/numbers/slots.ts'
import { assemble } from '../../src/billing/assemble.ts'
import { plainAcknowledgment, valid, type Gateway } from '../../src/gateways/gateway.ts'
import { fake } from '../../src/gateways/fake/index.ts'
import { ignored } from '../../src/payments/outcome.ts'
import { startCallLanes } from '../../src/worker/call-lanes.ts'
import { newPayment, openBilling, sendFake, sendJson, idle, until } from '../support/billing.ts'
import { forEachDatabase, onPostgres } from '../support/databases.ts'

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

onPostgres((engine) => {
  test('a gateway is not slow where it failed at once and only the record took long', async () => {
    const { gateway, answer, asked } = sluggishGateway()
    let first = true
    const interpret: Gateway['interpret'] = (...given) => {
      if (!first) return gateway.interpret(...given)
      first = false
      return Promise.reject(new Error('a field is missing'))
    }
    const failing = { ...gateway, interpret }
    await using opened = await openBilling(engine, { extraGateways: [failing] })
    const { core, database, runtime } = opened
    await sql`create function linger() returns trigger language plpgsql as
      $$ begin perform pg_sleep(1.2); return new; end $$`.execute(database.db)
    await sql`create trigger linger before update of attempts on billing.webhook_calls
      for each row execute function linger()`.execute(database.db)
    const { settings, listeners } = runtime
    const parts = await assemble(await runtime.opened(), {
      settings,
      listeners,
      numbers: createNumbers(),
      wake: () => {},
    })
    await sendJson(core, 'sluggish', { call: 1 })
    const lanes = startCallLanes({ processing: parts.processing, lanes: 1 })
    try {
      const attempts = async () => (await core.calls.list({})).data[0]?.attempts
      await until(async () => (await attempts()) === 1, { what: 'the failure is recorded' })
      await sendJson(core, 'sluggish', { call: 2 })
      await sendJson(core, 'sluggish', { call: 3 })
      lanes.wake()
      // The slow ones have a single lane: there the second would wait for the first.
      await until(() => asked() === 2, { what: 'both are asked about' })
    } finally {
      answer()
      await lanes.stop(5_000)
    }
  })
})
