import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../src/database/connect.ts'
import { migrate, pendingMigrations } from '../../src/database/migrate.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { onBothDatabases } from './databases.ts'
import { setVariable } from './set-variable.ts'

onBothDatabases((engine) => {
  test('gives each caller a migrated database', async () => {
    const { target, drop } = await engine.create()
    const database = connect({ target, log: silentLog, poolSize: 2, applicationName: 'test' })
    try {
      assert.deepEqual(await pendingMigrations(database), [])
    } finally {
      await database.close()
      await drop()
    }
  })

  test('gives who asks for it an empty database that can be migrated', async () => {
    const { target, drop } = await engine.createEmpty()
    const database = connect({ target, log: silentLog, poolSize: 2, applicationName: 'test' })
    try {
      assert.equal((await pendingMigrations(database)).length > 0, true)
      await migrate(database)
      assert.deepEqual(await pendingMigrations(database), [])
    } finally {
      await database.close()
      await drop()
    }
  })
})

test('a blank variable names no server', () => {
  const name = 'QUITTANCE_TEST_BLANK'
  for (const blank of ['', ' ', '\n']) {
    process.env[name] = blank
    assert.equal(setVariable(name), undefined)
  }
  process.env[name] = ' postgres://127.0.0.1/ '
  assert.equal(setVariable(name), 'postgres://127.0.0.1/')
  delete process.env[name]
})
