import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../src/database/connect.ts'
import { migrate } from '../../src/database/migrate.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { describeSchema } from '../support/describe-schema.ts'
import { read } from './source-files.ts'

onAnyDatabase((engine) => {
  test('the migrations make the schema that is committed (npm run schema writes it)', async () => {
    const { target, drop } = await engine.createEmpty()
    const database = connect({ target, log: silentLog, poolSize: 2, applicationName: 'test' })
    try {
      await migrate(database)
      assert.equal(await describeSchema(database), read('src/database/schema.txt'))
    } finally {
      await database.close()
      await drop()
    }
  })
})
