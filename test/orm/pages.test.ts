import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openBilling } from '../support/billing.ts'
import { forEachDatabase } from '../support/databases.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { root } from '../tidy/source-files.ts'
import { failOrder, listenerOf, loadListener, payOrder, shop, shopState } from './page-listeners.ts'

let folder: TemporaryFolder

before(() => {
  folder = temporaryFolder()
  symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'))
})
after(() => folder.remove())

forEachDatabase((engine) => {
  for (const heading of ['Drizzle', 'Kysely', 'pg, and the others', 'Nested transactions']) {
    test(`the listener of docs/orm.md, ${heading}, writes with its event`, async () => {
      const listener = await loadListener(folder.path, listenerOf(heading))
      await using billing = await openBilling(engine)
      const { core, database } = billing
      await database.pool.query(shop)
      core.on('PaymentSucceeded', 'payOrder', listener)
      const id = await payOrder(core)
      assert.deepEqual(await shopState(database), { paid: true, notes: [`paid by ${id}`] })
    })

    test(`the listener of docs/orm.md, ${heading}, writes nothing without it`, async () => {
      const listener = await loadListener(folder.path, listenerOf(heading))
      await using billing = await openBilling(engine)
      const { core, database } = billing
      await database.pool.query(shop)
      core.on('PaymentSucceeded', 'payOrder', listener)
      core.on('PaymentSucceeded', 'second', () => assert.fail('not today'))
      assert.match(await failOrder(core), /not today/)
      assert.deepEqual(await shopState(database), { paid: false, notes: [] })
    })
  }

  test('the nested transaction of docs/orm.md undoes its note alone', async () => {
    const listener = await loadListener(folder.path, listenerOf('Nested transactions'))
    await using billing = await openBilling(engine)
    const { core, database } = billing
    await database.pool.query(shop)
    await database.pool.query('alter table order_notes add check (length(text) < 5)')
    core.on('PaymentSucceeded', 'payOrder', listener)
    await payOrder(core)
    assert.deepEqual(await shopState(database), { paid: true, notes: [] })
  })
})
