import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { coreOf } from '../../src/billing/create-core.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import { createRuntime } from '../../src/billing/runtime.ts'
import { defaultSchema } from '../../src/database/schema.ts'
import { idle, newPayment, sendFake, unhurried } from '../support/billing.ts'
import { embedded, onBothDatabases, onPostgres, type TestEngine } from '../support/databases.ts'

type Place = NonNullable<BillingOptions['database']>

async function withoutSchema(engine: TestEngine) {
  if (engine.name === embedded.name) return { place: { memory: true }, drop: async () => {} }
  const { url = '', drop } = await engine.createEmpty()
  return { place: { url, poolSize: 5 }, drop }
}

async function open(place: Place) {
  const runtime = createRuntime({ listenerBudgetMs: 20_000, database: place }, unhurried)
  const core = coreOf(runtime)
  await core.migrate()
  const { database } = await runtime.opened()
  return { core, database }
}

onBothDatabases((engine) => {
  test('all is done in the schema of the setting, and no statement of a listener is changed', async () => {
    const { place, drop } = await withoutSchema(engine)
    const { core, database } = await open({ ...place, schema: 'order' })
    const heard: unknown[] = []
    core.on('PaymentSucceeded', 'listens', async ({ payment }, { tx, billing }) => {
      const { rows } = await tx.query(`select 'billing.payments' as said, count(*)::int as paid
        from "order".payments where status = 'paid'`)
      const next = await billing.payments.create({
        gateway: 'fake',
        amount: 1,
        currency: 'USD',
        payable: { type: 'order', id: 'next' },
      })
      heard.push(payment.id, rows[0], next.status)
    })
    const worker = await core.work()
    const payment = await newPayment(core)
    assert.equal((await sendFake(core, payment.id, 'success')).status, 200)
    await idle(core)
    await worker.stop()
    assert.deepEqual(heard, [payment.id, { said: 'billing.payments', paid: 1 }, 'pending'])
    const { rows } = await sql<{ name: string }>`
      select nspname as name from pg_namespace where nspname !~ '^pg_'`.execute(database.db)
    const names = new Set(rows.map(({ name }) => name))
    assert.deepEqual(names, new Set(['order', 'public', 'information_schema']))
    await core.close()
    await drop()
  })
})

onPostgres((engine) => {
  test('installations that share a database do not see each other', async () => {
    const { place, drop } = await withoutSchema(engine)
    const schemas = [defaultSchema, 't1', 't2']
    const cores = await Promise.all(schemas.map((schema) => open({ ...place, schema })))
    const id = '01890000-0000-7000-8000-000000000001'
    for (const [at, { core }] of cores.entries()) await newPayment(core, { id, amount: at + 1 })
    const { core } = cores[1] ?? assert.fail()
    const worker = await core.work()
    await sendFake(core, id, 'success')
    await idle(core)
    await worker.stop()
    const found = await Promise.all(cores.map(({ core }) => core.payments.get(id)))
    assert.deepEqual(
      found.map((payment) => `${payment?.amount} ${payment?.status}`),
      ['1 pending', '2 paid', '3 pending'],
    )
    const calls = await Promise.all(cores.map(({ core }) => core.calls.list()))
    assert.deepEqual(
      calls.map(({ data }) => data.length),
      [0, 1, 0],
    )
    await Promise.all(cores.map(({ core }) => core.close()))
    await drop()
  })

  test('a reference of another payment is named, also where a number follows the constraint', async () => {
    const { place, drop } = await withoutSchema(engine)
    const { core, database } = await open(place)
    await sql`alter index billing.payments_provider_reference
      rename to payments_provider_reference_102050`.execute(database.db)
    await newPayment(core, { providerReference: 'ref_1' })
    await assert.rejects(newPayment(core, { providerReference: 'ref_1' }), {
      code: 'payment_invalid',
      message: /providerReference belongs to another payment already/,
    })
    await core.close()
    await drop()
  })
})
