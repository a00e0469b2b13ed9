import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { connect, type Database } from '../../../src/database/connect.ts'
import { silentLog } from '../../../src/kernel/log.ts'
import { releaseToOthers, returnAfter } from '../../../src/queue/return-after.ts'
import { capturedLog } from '../../support/captured-log.ts'
import { onPostgres, type TestDatabase } from '../../support/databases.ts'
import { ahead, leased, leaseOf, otherToken, read, row, tables } from '../leases/rows.ts'

onPostgres((engine) => {
  let created: TestDatabase
  let database: Database
  before(async () => {
    created = await engine.create()
    const { target } = created
    database = connect({ target, log: silentLog, poolSize: 2, applicationName: 'tests' })
  })
  beforeEach(() => sql`delete from billing.webhook_calls`.execute(database.db))
  after(async () => {
    await database.close()
    await created.drop()
  })

  const error = new Error('connection lost')
  const held = { ...leaseOf('a'), attempts: 0, leases_lost: 0, times_returned: 5 }
  const entry = { level: 40, table: 'billing.webhook_calls' }

  test('after a passing failure a row goes back, later the more often that happened; the log says why', async () => {
    await row(database.db, 'calls', { name: 'a', ...leased(), times_returned: 5 })
    const { log, lines } = capturedLog()
    await returnAfter({ database, log, random: () => 1, error }, tables.calls, held)
    const shown = `state; attempts; times_returned; ${ahead('next_attempt_at', 7)}`
    assert.deepEqual(await read(database.db, 'calls', shown), ['a pending 0 6 true'])
    const [line, ...others] = lines
    assert.deepEqual(others, [])
    assert.partialDeepStrictEqual(line, {
      ...entry,
      id: held.id,
      msg: 'passing database failure, will try again',
      err: { message: 'connection lost' },
    })
  })

  test('a row that another worker has is not ours to return', async () => {
    await row(database.db, 'calls', { name: 'a', ...leased() })
    const other = { ...held, token: otherToken }
    const failure = { database, log: silentLog, random: () => 1, error }
    await assert.rejects(returnAfter(failure, tables.calls, other), { name: 'LeaseLost' })
    assert.deepEqual(await read(database.db, 'calls', 'state; times_returned'), ['a processing 0'])
  })

  test('a database that is away is tried until it is back', async () => {
    await row(database.db, 'calls', { name: 'a', ...leased() })
    let tried = 0
    const away: Database = {
      ...database,
      get db() {
        tried += 1
        if (tried === 1) throw error
        return database.db
      },
    }
    const failure = { database: away, log: silentLog, random: () => 1, error }
    await returnAfter(failure, tables.calls, held)
    assert.equal(tried, 2)
    assert.deepEqual(await read(database.db, 'calls', 'state'), ['a pending'])
  })

  test('one that stays away keeps nobody for ever: the lease runs out by itself', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let tried = 0
    const away: Database = {
      ...database,
      get db(): Database['db'] {
        tried += 1
        throw error
      },
    }
    let ended = false
    const failure = { database: away, log: silentLog, random: () => 1, error }
    const returned = returnAfter(failure, tables.calls, held).then(() => (ended = true))
    await new Promise(setImmediate)
    assert.equal(tried, 1)
    for (let turn = 0; turn < 100 && !ended; turn += 1) {
      t.mock.timers.tick(500)
      await new Promise(setImmediate)
    }
    await returned
    assert.equal(tried, 20)
  })

  test('what this process must not do is left to others at once; the log says how much', async () => {
    await row(database.db, 'calls', { name: 'a', ...leased(), times_returned: 5 })
    await row(database.db, 'calls', { name: 'b', ...leased() })
    const { log, lines } = capturedLog()
    const leases = [leaseOf('a'), leaseOf('b')]
    await releaseToOthers({ database, log, error }, tables.calls, leases)
    assert.deepEqual(await read(database.db, 'calls', 'state; times_returned'), [
      'a pending 5',
      'b pending 0',
    ])
    assert.partialDeepStrictEqual(lines, [
      {
        ...entry,
        rows: 2,
        msg: 'left to a process with every listener',
        err: { message: 'connection lost' },
      },
    ])
  })
})
