import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Kysely, PostgresDialect } from 'kysely'
import { Migrator } from 'kysely/migration'
import type pg from 'pg'
import { unbuiltIndexes } from '../../src/database/build-indexes.ts'
import { connect, type Database } from '../../src/database/connect.ts'
import { migrate } from '../../src/database/migrate.ts'
import { migrations } from '../../src/database/migrations/index.ts'
import { createCallStore } from '../../src/intake/store-calls.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { newCall } from '../intake/store.ts'
import { until } from '../support/billing.ts'
import { startCutProxy, type CutProxy } from '../support/cut-proxy.ts'
import { onPostgres, type TestDatabase } from '../support/databases.ts'
import { directPool } from '../support/direct-pool.ts'

/** The last version whose next migration changes tables that are in use. */
const oldVersion = '0008_superseded'
const newer = Object.keys(migrations).filter((name) => name > oldVersion)

/** An old version, and what it goes on doing while the next ones come. */
onPostgres((engine) => {
  let place: TestDatabase
  let proxy: CutProxy
  /** Of the version that migrates. */
  let database: Database
  /** Of everybody else. */
  let direct: pg.Pool

  before(async () => {
    place = await engine.createEmpty()
    proxy = await startCutProxy(place.url ?? '')
    const target = { kind: 'postgres', url: proxy.url } as const
    database = connect({ target, log: silentLog, poolSize: 2, applicationName: 'migrating' })
    direct = directPool({ connectionString: place.url, statement_timeout: 2_000 })
    const db = new Kysely<unknown>({
      dialect: new PostgresDialect({ pool: directPool({ connectionString: place.url }) }),
    })
    const { error } = await new Migrator({
      db,
      provider: { getMigrations: () => Promise.resolve({ ...migrations }) },
      migrationTableSchema: 'billing',
      migrationTableName: 'migrations',
      migrationLockTableName: 'migration_lock',
    }).migrateTo(oldVersion)
    await db.destroy()
    assert.equal(error, undefined)
  })
  /** Of transactions that are open. */
  const held = new Set<pg.PoolClient>()
  after(async () => {
    // What a failed test left open would keep the rest from ending.
    for (const client of held) client.release(true)
    await database.close()
    await direct.end()
    await proxy.close()
    await place.drop()
  })

  /** A transaction in which a table is read or written. */
  const holding = async (mode: 'access share' | 'row exclusive', table: string) => {
    const client = await direct.connect()
    held.add(client)
    await client.query(`begin; lock table ${table} in ${mode} mode`)
    return async () => {
      await client.query('commit')
      held.delete(client)
      client.release()
    }
  }
  /** Whether such a statement waits for others. */
  const waits = async (statement: string) => (await waitingFor(statement)) !== undefined
  const waitingFor = async (statement: string) => {
    const { rows } = await direct.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database()
         and wait_event_type = 'Lock' and query ~* $1`,
      [statement],
    )
    return rows[0]?.pid
  }
  /** The one that waits for whoever is writing calls. */
  const building = 'create index .*billing.webhook_calls'
  /** A migration that builds the indexes anew, and waits for a transaction that writes calls. */
  const startBuild = async () => {
    await direct.query(`drop index billing.payments_subscription_reference,
      billing.webhook_calls_awaiting_also`)
    const end = await holding('row exclusive', 'billing.webhook_calls')
    const migrating = migrate(database)
    migrating.catch(() => {})
    await until(() => waits(building), { what: 'it waits' })
    return { migrating, end }
  }

  test('a table that is in use for longer than any wait for it holds up a migration, and fails none', async () => {
    const end = await holding('access share', 'billing.payments')
    const migrating = migrate(database)
    migrating.catch(() => {})
    await until(() => waits('alter table'), { what: 'it waits' })
    await until(async () => !(await waits('alter table')), { what: 'it lets others pass' })
    await end()
    const { struck, release } = proxy.next(/create index .*webhook_calls_awaiting_also/s, 'hold')
    await struck
    const calls = createCallStore({ pool: direct, log: silentLog })
    assert.equal(await calls.store(newCall()), 'stored', 'while an index is being built')
    release()
    assert.deepEqual(await migrating, newer)
    assert.deepEqual(await unbuiltIndexes(database.db), [])
  })

  test('an index is built beside a transaction that writes, and callbacks beside both', async () => {
    const { migrating, end } = await startBuild()
    const calls = createCallStore({ pool: direct, log: silentLog })
    assert.equal(await calls.store(newCall()), 'stored')
    await end()
    assert.deepEqual(await migrating, [])
    assert.deepEqual(await unbuiltIndexes(database.db), [])
  })

  test('what is killed half-way leaves an index behind that the next one builds anew, and several take turns', async () => {
    const { migrating: killed, end } = await startBuild()
    await direct.query('select pg_terminate_backend($1)', [await waitingFor(building)])
    await assert.rejects(killed)
    const [broken] = await unbuiltIndexes(database.db)
    assert.equal(broken?.state, 'broken')
    await end()
    await Promise.all([1, 2, 3].map(() => migrate(database)))
    assert.deepEqual(await unbuiltIndexes(database.db), [])
  })

  test('a build that goes on without its process is waited for', async () => {
    const { migrating: gone, end } = await startBuild()
    proxy.cut()
    await assert.rejects(gone)
    const target = { kind: 'postgres', url: place.url ?? '' } as const
    const next = connect({ target, log: silentLog, poolSize: 1, applicationName: 'next' })
    try {
      const migrating = migrate(next)
      migrating.catch(() => {})
      await until(() => waits('drop index'), { what: 'the next one is in its way' })
      await end()
      assert.deepEqual(await migrating, [])
      assert.deepEqual(await unbuiltIndexes(next.db), [])
    } finally {
      await next.close()
    }
  })
})
