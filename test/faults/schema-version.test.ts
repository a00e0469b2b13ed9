import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import { createCore } from '../../src/billing/create-core.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import { migrate } from '../../src/database/migrate.ts'
import { migrations } from '../../src/database/migrations/index.ts'
import { newPayment, openBilling, sendFake, unhurried, until } from '../support/billing.ts'
import { onAnyDatabase, onPostgres } from '../support/databases.ts'
import { runHosted } from '../support/command-host.ts'

onPostgres((engine) => {
  test('F24: a pending migration refuses: nothing starts, nothing is stored, never 500', async () => {
    const { url = '', drop } = await engine.createEmpty()
    try {
      await using core = createCore({ database: { url } }, unhurried)
      const outdated = { code: 'database_schema_outdated', message: /0001_/ }
      await assert.rejects(core.start(), outdated)
      await assert.rejects(core.work(), outdated)
      const body = Buffer.from(JSON.stringify({ payment_id: randomUUID(), result: 'success' }))
      const answer = await core.receive({ gateway: 'fake', target: '/', headers: {}, body })
      assert.equal(answer.status, 503)
      assert.equal((await core.readiness()).ready, false)
      for (const command of ['serve', 'work']) {
        const env = { DATABASE_URL: url, NODE_ENV: 'production', PORT: '0', HOST: '127.0.0.1' }
        const { code, stderr } = await runHosted([command], { env })
        assert.equal(code, 1, command)
        assert.match(stderr.join('\n'), /lacks \d+ migration.* — Run: quittance migrate/)
      }
    } finally {
      await drop()
    }
  })
})

/** What the next version brings: one nullable column more in what every callback is written to. */
const tables = ['payments', 'webhook_calls', 'events', 'deliveries', 'deferred_events']
const withNext = {
  ...migrations,
  '9999_of_tomorrow': {
    up: async (db: Kysely<unknown>) => {
      for (const table of tables) {
        await sql`alter table ${sql.table(`billing.${table}`)}
          add column of_tomorrow text`.execute(db)
      }
    },
  },
}

onAnyDatabase((engine) => {
  test('F84: a schema newer than the code is accepted: two versions work side by side', async () => {
    await using billing = await openBilling(engine)
    const { core: old, database, url } = billing
    const processed: string[] = []
    old.on('PaymentSucceeded', 'tell', ({ payment }, { afterCommit }) => {
      afterCommit(() => void processed.push(`old ${payment.id}`))
    })
    await old.work()
    const settles = async (core: BillingCore, version: string) => {
      const { id } = await newPayment(core)
      // A busy machine answers 503, and a gateway sends again.
      const isStored = async () => (await sendFake(core, id, 'success')).status === 200
      await until(isStored, { what: `${version} has stored its callback` })
      // Whose worker takes it is not said: both look for work.
      const isProcessed = () => processed.some((one) => one.endsWith(id))
      await until(isProcessed, { what: `${version} has its callback processed` })
      assert.equal((await core.payments.get(id))?.status, 'paid')
    }
    await settles(old, 'the old version')

    assert.deepEqual(await migrate(database, { all: withNext }), ['9999_of_tomorrow'])
    // An embedded database belongs to one process.
    const next = url === undefined ? old : createCore({ database: { url } }, unhurried)
    await using closing = new AsyncDisposableStack()
    if (next !== old) {
      closing.defer(() => next.close())
      next.on('PaymentSucceeded', 'tell', async ({ payment }, { tx, afterCommit }) => {
        await tx.query(`update billing.payments set of_tomorrow = 'told' where id = $1`, [
          payment.id,
        ])
        afterCommit(() => void processed.push(`next ${payment.id}`))
      })
      await next.work()
    }
    const versions = next === old ? 1 : 2
    await until(
      async () => {
        await Promise.all([settles(old, 'the old version'), settles(next, 'the next version')])
        const since = processed.slice(1).map((one) => one.split(' ')[0])
        return new Set(since).size === versions
      },
      { what: 'both versions have processed callbacks' },
    )
    assert.deepEqual(await old.migrate(), [])
    for (const core of [old, next]) assert.equal((await core.readiness()).ready, true)
    const { rows } = await database.pool.query<{ told: number; ids: number }>(
      `select (count(*) filter (where of_tomorrow = 'told'))::int as told, count(*)::int as ids
       from billing.payments where status = 'paid'`,
    )
    const byNext = processed.filter((one) => one.startsWith('next'))
    assert.deepEqual(rows, [{ told: byNext.length, ids: processed.length }])
    assert.deepEqual((await old.calls.list({ state: 'failed' })).data, [])
  })
})
