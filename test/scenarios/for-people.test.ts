import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { coreOf } from '../../src/billing/create-core.ts'
import { createRuntime, type Runtime } from '../../src/billing/runtime.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import type { Database } from '../../src/database/connect.ts'
import { newPayment, until } from '../support/billing.ts'
import { onPostgres, type TestDatabase } from '../support/databases.ts'

/** What looks wait for here: they read it, and nothing else does. */
const lock = 'lock table billing.operator_actions in access exclusive mode'

onPostgres((engine) => {
  let created: TestDatabase
  let runtime: Runtime
  /** With the usual limits of a service. */
  let core: BillingCore
  before(async () => {
    created = await engine.create()
    runtime = createRuntime({ database: { url: created.url ?? '', poolSize: 3 } })
    core = coreOf(runtime)
  })
  after(async () => {
    await core.close()
    await created.drop()
  })

  test('what people look at takes two connections of its own, and no work waits for it', async () => {
    await using blocker = await openClient(created.url)
    await using watcher = await openClient(created.url)
    const people = core.forPeople()
    await blocker.query('begin')
    await blocker.query(lock)
    const looks: Promise<string>[] = []
    let underWay = 0
    // None waits for it long: more of them come.
    const comeAndWait = async () => {
      for (; underWay < 3; underWay += 1) {
        const look = people.operators.actions()
        looks.push(
          look
            .then(
              () => 'read',
              () => 'refused',
            )
            .finally(() => (underWay -= 1)),
        )
      }
      return (await waiting(watcher, 'quittance console')) === 2
    }
    await until(comeAndWait, { what: 'two looks wait for the lock' })
    assert.deepEqual((await people.readiness()).problems, [], 'callbacks are taken')
    const { id } = await newPayment(core, { checkout: false })
    assert.equal((await core.payments.get(id))?.id, id)
    assert.equal(await waiting(watcher, 'quittance'), 0)
    assert.ok((await Promise.all(looks)).includes('refused'), 'none is waited for without an end')
    await blocker.query('rollback')
    assert.deepEqual((await people.operators.actions()).data, [])
  })

  test('what people look at ends sooner than work that takes as long', async () => {
    await using owner = await openClient(created.url)
    await owner.query('alter table billing.operator_actions rename to actions_by_now')
    await owner.query(
      `create view billing.operator_actions as
       select * from billing.actions_by_now where (select pg_sleep(60) is not null)`,
    )
    await assert.rejects(() => core.forPeople().operators.actions(), { code: '57014' })
    const { looks, database } = await runtime.opened()
    assert.deepEqual([await limitOf(looks), await limitOf(database)], ['2s', '5s'])
    await owner.query('drop view billing.operator_actions')
    await owner.query('alter table billing.actions_by_now rename to operator_actions')
  })
})

async function limitOf({ db }: Database): Promise<string | undefined> {
  const { rows } = await sql<{ limit: string }>`
    select current_setting('statement_timeout') as limit`.execute(db)
  return rows[0]?.limit
}

async function openClient(connectionString: string | undefined) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

async function waiting(watcher: pg.Client, application: string): Promise<number> {
  const { rows } = await watcher.query<{ count: string }>(
    `select count(*) from pg_stat_activity
     where datname = current_database() and application_name = $1 and wait_event_type = 'Lock'`,
    [application],
  )
  return Number(rows[0]?.count)
}
