import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameComment } from '../../src/database/named-statements.ts'
import { openBilling } from '../support/billing.ts'
import { forEachDatabase, postgres } from '../support/databases.ts'

forEachDatabase((engine) => {
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
        `select name from pg_prepared_statements where name <> ''`,
      )
      assert.deepEqual(rows, engine === postgres ? [{ name: 'add-one' }] : [])
    } finally {
      client.release()
    }
  })
})
