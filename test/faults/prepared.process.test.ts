import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serverLimits } from '../../src/database/connect.ts'
import { isPassing } from '../../src/database/failure.ts'
import { nameComment } from '../../src/database/named-statements.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { openDatabase } from '../../src/database/open-database.ts'
import { newPayment, openBilling, sendFake, until } from '../support/billing.ts'
import { onAnyDatabase, onPostgres } from '../support/databases.ts'
import { finished } from '../support/deployment.ts'
import { noPooler, startPooler } from '../support/pooler.ts'
import { stating } from '../support/stating-gateway.ts'

onAnyDatabase((engine) => {
  test('a connection prepares a statement that has a name, once, where the server keeps it', async () => {
    await using billing = await openBilling(engine)
    const { database } = await billing.runtime.opened()
    const client = await database.pool.connect()
    try {
      for (const value of [1, 2]) {
        const { rows } = await client.query(`${nameComment('add-one')}select $1::int + 1 as sum`, [
          value,
        ])
        assert.deepEqual(rows, [{ sum: value + 1 }])
      }
      await client.query('select $1::int', [1])
      const { rows } = await client.query(
        `select name from pg_prepared_statements where name <> '' and statement like '%as sum'`,
      )
      assert.deepEqual(rows, [{ name: 'add-one' }])
    } finally {
      client.release()
    }
  })

  test('what is prepared goes on when a later version adds columns', async () => {
    await using billing = await openBilling(engine)
    const { core, database } = billing
    core.on('PaymentSucceeded', 'books', async (_event, { tx }) => {
      await tx.query('select 1')
    })
    core.on('PaymentSucceeded', 'mail', () => {}, { queued: true })
    const worker = await core.work()
    const read = async () => {
      const { rows } = await database.pool.query<{ state: string }>(
        `select state, attempts, times_returned from billing.webhook_calls
         union all select state, attempts, times_returned from billing.deliveries`,
      )
      return rows
    }
    let count = 0
    const payOnce = async () => {
      const { id } = await newPayment(core)
      await sendFake(core, id, 'success')
      count += 1
      const isDone = async () => {
        const rows = await read()
        return rows.length === 2 * count && rows.every(({ state }) => state === 'processed')
      }
      await until(isDone, { what: 'the call and its delivery are processed' })
    }
    await payOnce()
    const { rows: tables } = await database.pool.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'billing'`,
    )
    for (const { name } of tables) {
      await database.pool.query(`alter table billing.${name} add column later text default 'new'`)
    }
    await payOnce()
    await payOnce()
    await worker.stop()
    const well = { state: 'processed', attempts: 0, times_returned: 0 }
    assert.deepEqual(
      await read(),
      Array.from({ length: 6 }, () => well),
    )
  })

  test('a gateway in JavaScript that says nothing of its account has payments beside others', async () => {
    const silent = { ...stating, account: () => ({}) as ReturnType<typeof stating.account> }
    await using billing = await openBilling(engine, { extraGateways: [silent] })
    const { core } = billing
    await newPayment(core)
    const { live, merchantAccount } = await newPayment(core, { gateway: silent.name })
    assert.deepEqual({ live, merchantAccount }, { live: null, merchantAccount: null })
    await newPayment(core)
  })

  test("a listener's statements are its own, whatever comment they begin with", async () => {
    await using billing = await openBilling(engine)
    const { core, database } = billing
    core.on('PaymentSucceeded', 'books', async (_event, { tx }) => {
      await tx.query('/* books */ select $1::int', [1])
      await tx.query('/* books */ select $1::text', ['one'])
      await tx.client.query('/* books */ select 1; select 2')
    })
    await core.work()
    const { id } = await newPayment(core)
    await sendFake(core, id, 'success')
    await finished(database)
    const { rows } = await database.pool.query('select state, exception from billing.webhook_calls')
    assert.deepEqual(rows, [{ state: 'processed', exception: null }])
  })

  test('a listener that drops all prepared statements harms nobody', async () => {
    await using billing = await openBilling(engine)
    const { core, database } = billing
    core.on('PaymentSucceeded', 'books', async (_event, { tx }) => {
      await tx.query('deallocate all')
    })
    const worker = await core.work()
    for (const _ of [1, 2, 3]) {
      const { id } = await newPayment(core)
      await sendFake(core, id, 'success')
      await finished(database)
    }
    await worker.stop()
    const { rows } = await database.pool.query<object>(
      'select state, attempts, times_returned from billing.webhook_calls',
    )
    const well = { state: 'processed', attempts: 0, times_returned: 0 }
    assert.deepEqual(rows, [well, well, well])
  })

  test('a connection whose statements are gone is not used again', async () => {
    await using billing = await openBilling(engine)
    const { database } = billing
    const addOne = () =>
      database.transaction(({ client }) =>
        client.query(`${nameComment('add-one')}select $1::int + 1 as sum`, [1]),
      )
    await addOne()
    await database.transaction(({ client }) =>
      client.query(`do $$ begin execute 'deal' || 'locate all'; end $$`),
    )
    await assert.rejects(addOne(), isPassing)
    assert.deepEqual((await addOne()).rows, [{ sum: 2 }])
  })
})

onPostgres((engine) => {
  test(
    'nothing is prepared through a pooler, even one behind which all limits are in force',
    { skip: noPooler },
    async () => {
      const { url = '', drop } = await engine.create()
      const { pathname } = new URL(url)
      const pooler = await startPooler(url, { ignoresLimits: true })
      const open = (through: string) =>
        openDatabase({
          url: through,
          dataDir: '',
          memory: false,
          attach: false,
          poolSize: 2,
          log: silentLog,
          onLost: () => {},
        })
      try {
        const direct = await open(url)
        for (const name of Object.keys(serverLimits)) {
          await direct.database.pool.query(
            `alter database "${pathname.slice(1)}" set ${name} = '5s'`,
          )
        }
        const pooled = await open(pooler.url)
        assert.equal(direct.database.preparing.isOn, true)
        for (const { preparing } of [pooled.database, pooled.intake]) {
          assert.equal(preparing.isOn, false)
        }
        await Promise.all([direct.close(), pooled.close()])
      } finally {
        await pooler.stop()
        await drop()
      }
    },
  )
})
