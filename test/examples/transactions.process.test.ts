import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drizzle } from 'drizzle-orm/node-postgres'
import { pgTable, uuid } from 'drizzle-orm/pg-core'
import type { ListenerTransaction } from '../../src/listeners/listener.ts'
import { newPayment, openBilling, sendFake, until } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { isTogether, noteTransactions, rowsOf, settlesOnce, startExample } from './example.ts'

/** As the examples make it with the first row. */
const accessTable = 'create table access (payment_id uuid primary key, order_id text not null)'

// The listener's row goes with the event or not at all.
const access = `
  select order_id, access.payment_id, ${isTogether('access.payment_id')} as together
  from access`

const granted = pgTable('granted', { paymentId: uuid('payment_id').primaryKey() })

const writers: Readonly<Record<string, (tx: ListenerTransaction, id: string) => Promise<unknown>>> =
  {
    Drizzle: (tx, paymentId) => drizzle(tx.client).insert(granted).values({ paymentId }),
    pg: (tx, paymentId) =>
      tx.client.query('insert into granted (payment_id) values ($1)', [paymentId]),
  }

onAnyDatabase((engine) => {
  for (const file of ['drizzle.ts', 'plain-pg.ts']) {
    test(`examples/${file} writes one row for one payment, and ends in order`, async () => {
      await using example = await startExample(`examples/${file}`, engine)
      const { running, url, core } = example
      await rowsOf(example, accessTable)
      await noteTransactions(example, { table: 'access', paymentId: 'payment_id' })
      const id = await settlesOnce(core, url, fetch)
      assert.deepEqual(await rowsOf(example, access), [
        { order_id: '42', payment_id: id, together: true },
      ])
      await core.close()
      const { code, stdout } = await running.stop()
      assert.equal(code, 0)
      assert.deepEqual(stdout, [`listening on ${url}`, 'paid: order 42'])
    })
  }

  for (const [name, write] of Object.entries(writers)) {
    test(`what a listener wrote through ${name} is gone if it throws`, async () => {
      await using billing = await openBilling(engine)
      const { core, database } = billing
      await database.pool.query('create table granted (payment_id uuid primary key)')
      let seen = 0
      core.on('PaymentSucceeded', 'grantAccess', async ({ payment }, { tx }) => {
        await write(tx, payment.id)
        const { rows } = await tx.query('select payment_id from granted')
        seen = rows.length
        throw new Error('not today')
      })
      await core.work()
      const payment = await newPayment(core)
      await sendFake(core, payment.id, 'success')
      await until(async () => (await core.calls.list()).data[0]?.attempts === 1, {
        what: 'the first attempt has failed',
      })
      assert.equal(seen, 1)
      const { rows } = await database.pool.query('select payment_id from granted')
      assert.deepEqual(rows, [])
      assert.equal((await core.payments.get(payment.id))?.status, 'paid')
    })
  }
})
