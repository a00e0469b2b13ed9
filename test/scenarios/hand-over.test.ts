import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { connect, type Database } from '../../src/database/connect.ts'
import { hours } from '../../src/kernel/duration.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { startLanes } from '../../src/worker/lanes.ts'
import { databaseQueue, workerApplicationName } from '../../src/queue/database.ts'
import { webhookCalls, type LeasedCall } from '../../src/queue/calls.ts'
import { releaseRows } from '../../src/queue/end-rows.ts'
import { takeRows } from '../../src/queue/take-rows.ts'
import { onPostgres } from '../support/databases.ts'
import { openBilling, sendFake, until, type TestBilling } from '../support/billing.ts'

/** Lanes that would find nothing by themselves for an hour: only being woken helps. */
async function startSleepyLanes(database: Database, taken: LeasedCall[]): Promise<AsyncDisposable> {
  const lanes = startLanes<LeasedCall>({
    table: webhookCalls,
    database,
    log: silentLog,
    newId: newUuid,
    least: 2,
    most: 4,
    pollEvery: hours(1),
    anyAlone: () => Promise.resolve(false),
    take: (options) => takeRows(database.db, webhookCalls, { ...options, listeners: [] }),
    handle: async (call) => void taken.push(call),
  })
  const stop = await databaseQueue(database, silentLog).subscribe(() => lanes.wake())
  return {
    [Symbol.asyncDispose]: async () => {
      await stop()
      await lanes.stop(0)
    },
  }
}

onPostgres((engine) => {
  let billing: TestBilling
  let elsewhere: Database
  before(async () => {
    billing = await openBilling(engine)
    // The pool of another process.
    elsewhere = connect({
      target: { kind: 'postgres', url: billing.url ?? '' },
      log: silentLog,
      poolSize: 4,
      applicationName: 'another process',
    })
  })
  after(async () => {
    await elsewhere.close()
    await billing.close()
  })

  test('a call is handed to a worker in another process by NOTIFY, without waiting for a poll', async () => {
    const taken: LeasedCall[] = []
    await using _ = await startSleepyLanes(elsewhere, taken)
    await until(async () => (await listeners(elsewhere)).length > 0, {
      what: 'the other process listens',
    })
    for (const count of [1, 2, 3]) {
      await sendFake(billing.core, randomUUID(), 'success')
      await until(() => taken.length === count, { what: `call ${count} is taken` })
    }
    await releaseRows(elsewhere.db, webhookCalls, taken)
  })

  test('a worker whose listening connection is cut listens again', async () => {
    const nobody = async () => (await listeners(elsewhere)).length === 0
    await until(nobody, { what: 'no other test listens any more' })
    const taken: LeasedCall[] = []
    await using _ = await startSleepyLanes(elsewhere, taken)
    await until(async () => !(await nobody()), { what: 'it listens' })
    const [cut] = await listeners(elsewhere)
    await elsewhere.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = $1 and datname = current_database()`,
      [workerApplicationName],
    )
    const others = async () => (await listeners(elsewhere)).filter((pid) => pid !== cut)
    await until(async () => (await others()).length > 0, { what: 'it listens again' })
    const before = taken.length
    await sendFake(billing.core, randomUUID(), 'success')
    await until(() => taken.length > before, { what: 'the call is taken' })
  })

  test('however many callbacks come at once, few notifications are sent', async () => {
    const client = new pg.Client({ connectionString: billing.url })
    await client.connect()
    let notifications = 0
    client.on('notification', () => (notifications += 1))
    await client.query('listen quittance_calls')
    await Promise.all(
      Array.from({ length: 300 }, () => sendFake(billing.core, randomUUID(), 'success')),
    )
    await until(() => notifications > 0, { what: 'a notification' })
    assert.ok(notifications < 150, `${notifications} notifications for 300 callbacks`)
    await client.end()
  })
})

/** The connections that listen, by the ids of their processes on the server. */
async function listeners(database: Database): Promise<readonly number[]> {
  const { rows } = await database.pool.query<{ pid: number }>(
    `select pid from pg_stat_activity
     where application_name = $1 and datname = current_database() and state = 'idle'`,
    [workerApplicationName],
  )
  return rows.map(({ pid }) => pid)
}
