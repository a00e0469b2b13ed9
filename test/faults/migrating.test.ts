import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import type pg from 'pg'
import { connect, type Database } from '../../src/database/connect.ts'
import { migrate, pendingMigrations } from '../../src/database/migrate.ts'
import { migrations, type Migration } from '../../src/database/migrations/index.ts'
import { createCallStore } from '../../src/intake/store-calls.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { newCall } from '../intake/store.ts'
import { until } from '../support/billing.ts'
import { capturedLog } from '../support/captured-log.ts'
import { onPostgres, type TestDatabase } from '../support/databases.ts'
import { directPool } from '../support/direct-pool.ts'
import { muchPatience } from '../support/patience.ts'

/** The migration of a version to come. */
const next: Migration = {
  up: async (db) => {
    await sql`alter table billing.payments add column of_tomorrow text`.execute(db)
    await sql`alter table billing.webhook_calls add column of_tomorrow text`.execute(db)
  },
}
const withNext = { ...migrations, '9999_of_tomorrow': next }

onPostgres((engine) => {
  let place: TestDatabase
  let database: Database
  /** Of everybody else. */
  let direct: pg.Pool
  beforeEach(async () => {
    place = await engine.createEmpty()
    const target = { kind: 'postgres', url: place.url ?? '' } as const
    database = connect({ target, log: silentLog, poolSize: 4, applicationName: 'migrating' })
    direct = directPool({ connectionString: place.url, statement_timeout: 60_000 })
  })
  /** Of a transaction that is open. */
  let held: pg.PoolClient | undefined
  afterEach(async () => {
    // What a failed test left open would keep the rest from ending.
    held?.release(true)
    held = undefined
    await database.close()
    await direct.end()
    await place.drop()
  })

  /** A transaction that writes calls. */
  const writeCalls = async () => {
    const client = await direct.connect()
    held = client
    await client.query('begin; lock table billing.webhook_calls in row exclusive mode')
    return async () => {
      await client.query('commit')
      client.release()
      held = undefined
    }
  }
  /** The connections whose migration waits for them. */
  const waiting = async () => {
    const { rows } = await direct.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database()
         and wait_event_type = 'Lock' and query like 'alter table%'`,
    )
    return rows.map(({ pid }) => pid)
  }
  const somebodyWaits = async () => (await waiting()).length > 0
  const nobodyWaits = async () => (await waiting()).length === 0
  const columnsOfTomorrow = async () => {
    const { rows } = await direct.query<{ table: string }>(
      `select table_name as table from information_schema.columns
       where table_schema = 'billing' and column_name = 'of_tomorrow' order by table_name`,
    )
    return rows.map(({ table }) => table)
  }

  test('several processes migrate at once: one of them does, and none fails', async () => {
    const applied = await Promise.all([1, 2, 3].map(() => migrate(database)))
    assert.deepEqual(applied.flat(), Object.keys(migrations))
    assert.deepEqual(await pendingMigrations(database), [])
  })

  test('a table that is in use for long holds up a migration, and the migration nobody', async () => {
    await migrate(database)
    const end = await writeCalls()
    const { log, lines } = capturedLog()
    const migrating = migrate(database, { all: withNext, log })
    migrating.catch(() => {})
    await until(somebodyWaits, { what: 'it waits', everyMs: 20 })
    // Behind the lock that it waits for, until it gives up for now.
    const calls = createCallStore({
      database: direct,
      log: silentLog,
      deadline: muchPatience.answering,
    })
    assert.equal(await calls.store(newCall()), 'stored')
    await until(nobodyWaits, { what: 'it lets others pass', everyMs: 20 })
    assert.deepEqual(await columnsOfTomorrow(), [])
    await until(() => lines.length > 0, { what: 'it says what it waits for', everyMs: 20 })
    const [{ msg, holders } = {}] = lines
    assert.equal(msg, 'a migration waits for others')
    assert.match(JSON.stringify(holders), /^\[\{"pid":\d+,"user":"postgres","application":""/)
    await end()
    assert.deepEqual(await migrating, ['9999_of_tomorrow'])
    assert.deepEqual(await columnsOfTomorrow(), ['payments', 'webhook_calls'])
  })

  test('a table that is never free ends a migration, and the error says who holds it', async () => {
    await migrate(database)
    const end = await writeCalls()
    await assert.rejects(
      migrate(database, { all: withNext, pauseMs: 0, mostTries: 2 }),
      (error) => {
        assert.ok(isQuittanceError(error))
        assert.equal(error.code, 'database_schema_in_use')
        assert.match(error.message, /held by process \d+ of the server \(postgres, unnamed\) for /)
        return true
      },
    )
    await end()
  })

  test('a migration that is cut half-way leaves nothing behind; the next one begins it again', async () => {
    await migrate(database)
    const end = await writeCalls()
    const migrating = migrate(database, { all: withNext })
    migrating.catch(() => {})
    let cut = 0
    await until(
      async () => {
        for (const pid of await waiting()) {
          const { rows } = await direct.query<{ ended: boolean }>(
            'select pg_terminate_backend($1) as ended',
            [pid],
          )
          if (rows[0]?.ended === true) cut += 1
        }
        return cut > 0
      },
      { what: 'it is cut', everyMs: 20 },
    )
    await assert.rejects(migrating)
    assert.deepEqual(await columnsOfTomorrow(), [])
    assert.deepEqual(await pendingMigrations(database, withNext), ['9999_of_tomorrow'])
    await end()
    const applied = await Promise.all([1, 2].map(() => migrate(database, { all: withNext })))
    assert.deepEqual(applied.flat(), ['9999_of_tomorrow'])
    assert.deepEqual(await columnsOfTomorrow(), ['payments', 'webhook_calls'])
  })
})
