import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minutes, seconds } from '../../src/kernel/duration.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { openDatabase } from '../../src/database/open-database.ts'
import { usualPatience } from '../../src/database/patience.ts'
import { onPostgres } from '../support/databases.ts'

// Services of other tests wait for as long as a slow machine needs: here it is seen that a service
// has its limits at all.

test('a service waits for its database for seconds', () => {
  assert.deepEqual(usualPatience, {
    connection: seconds(2),
    statement: seconds(5),
    lock: seconds(2),
    storing: seconds(2),
    answering: seconds(2),
    look: seconds(2),
    forgotten: seconds(5),
  })
})

onPostgres((engine) => {
  test('each limit holds for the connections that it is meant for, and each transaction has its level', async () => {
    const created = await engine.create()
    const patience = {
      connection: minutes(2),
      statement: minutes(3),
      lock: minutes(4),
      storing: minutes(5),
      answering: minutes(6),
      look: minutes(7),
      forgotten: minutes(8),
    }
    const { database, intake, looks, close } = await openDatabase({
      // Without the limit of its own that the URL of a test has.
      url: created.url?.replace(/\?.*/, ''),
      dataDir: '',
      memory: false,
      attach: false,
      poolSize: 1,
      log: silentLog,
      patience,
      onLost: () => {},
    })
    try {
      for (const [{ pool }, statement] of [
        [database, '3min'],
        [intake, '5min'],
        [looks, '7min'],
      ] as const) {
        const { rows } = await pool.query(`select current_setting('statement_timeout') as statement,
          current_setting('lock_timeout') as lock`)
        assert.deepEqual(rows, [{ statement, lock: '4min' }])
        assert.equal(pool.options.connectionTimeoutMillis, patience.connection)
      }
      // As others may leave it behind a pooler.
      await database.pool.query("set default_transaction_isolation to 'serializable'")
      const { rows } = await database.transaction(({ client }) =>
        client.query('show transaction_isolation'),
      )
      assert.deepEqual(rows, [{ transaction_isolation: 'read committed' }])
    } finally {
      await close()
      await created.drop()
    }
  })
})
