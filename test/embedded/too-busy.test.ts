import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '../../src/database/open-database.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { silentLog } from '../../src/kernel/log.ts'

const standStill = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

test('a database of our own that does not answer in time is not looked for at DATABASE_URL', async () => {
  const log = {
    ...silentLog,
    // It is open, and asked next: on a machine so busy that no answer is read in time.
    debug: () => void setImmediate(() => standStill(2_500)),
  }
  const opening = openDatabase({
    url: undefined,
    directUrl: undefined,
    dataDir: '',
    memory: true,
    attach: false,
    poolSize: 2,
    log,
    onLost: () => {},
  })
  await assert.rejects(opening, (error) => {
    assert.ok(isQuittanceError(error), String(error))
    assert.equal(error.code, 'database_unreachable')
    assert.match(error.message, /^no database answers: .*time/)
    assert.doesNotMatch(error.fix, /DATABASE_URL/)
    assert.match(error.fix, /machine is less busy/)
    return true
  })
})
