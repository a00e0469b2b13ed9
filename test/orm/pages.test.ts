import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import type { Listener } from '../../src/listeners/listener.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { root } from '../tidy/source-files.ts'
import { failOrder, listenerOf, loadListener, payOrder, shop, shopState } from './page-listeners.ts'

let folder: TemporaryFolder

before(() => {
  folder = temporaryFolder()
  symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'))
})
after(() => folder.remove())

onAnyDatabase((engine) => {
  let billing: TestBilling
  let listener: Listener<'PaymentSucceeded'>
  let second: () => void
  before(async () => {
    billing = await openBilling(engine)
    await billing.database.pool.query(shop)
    const { core } = billing
    core.on('PaymentSucceeded', 'payOrder', (event, context) => listener(event, context))
    core.on('PaymentSucceeded', 'second', () => second())
  })
  after(() => billing.close())
  beforeEach(async () => {
    second = () => {}
    // The call of a test in which they fail would be tried again.
    await billing.database.pool.query(`delete from billing.webhook_calls where state = 'pending';
      truncate order_notes; update orders set paid = false`)
  })

  for (const heading of ['Drizzle', 'Kysely', 'pg, and the others', 'Nested transactions']) {
    test(`the listener of docs/orm.md, ${heading}, writes with its event, and nothing without it`, async () => {
      const { core, database } = billing
      listener = await loadListener(folder.path, listenerOf(heading))
      second = () => assert.fail('not today')
      assert.match(await failOrder(core), /not today/)
      assert.deepEqual(await shopState(database), { paid: false, notes: [] })
      await database.pool.query(`delete from billing.webhook_calls where state = 'pending'`)
      second = () => {}
      const id = await payOrder(core)
      assert.deepEqual(await shopState(database), { paid: true, notes: [`paid by ${id}`] })
    })
  }

  test('the nested transaction of docs/orm.md undoes its note alone', async () => {
    const { core, database } = billing
    listener = await loadListener(folder.path, listenerOf('Nested transactions'))
    await database.pool.query('alter table order_notes add check (length(text) < 5)')
    await payOrder(core)
    assert.deepEqual(await shopState(database), { paid: true, notes: [] })
  })
})
