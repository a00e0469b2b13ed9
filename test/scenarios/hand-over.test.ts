import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { connect, type Database } from '../../src/database/connect.ts'
import { hours } from '../../src/kernel/duration.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { startLanes, type LanesOptions } from '../../src/worker/lanes.ts'
import { databaseQueue, workerApplicationName } from '../../src/queue/database.ts'
import { webhookCalls, type LeasedCall } from '../../src/queue/calls.ts'
import { releaseRows } from '../../src/queue/end-rows.ts'
import { takeRows } from '../../src/queue/take-rows.ts'
import { onPostgres } from '../support/databases.ts'
import { storedIds } from '../intake/store.ts'
import {
  idle,
  newPayment,
  openBilling,
  sendFake,
  until,
  type TestBilling,
} from '../support/billing.ts'

/** Lanes that would find nothing by themselves for an hour: only being woken helps. */
function sleepyLanes(database: Database, options: Partial<LanesOptions<LeasedCall>> = {}) {
  return startLanes<LeasedCall>({
    table: webhookCalls,
    database,
    log: silentLog,
    newId: newUuid,
    least: 2,
    most: 4,
    pollEvery: hours(1),
    anyAlone: () => Promise.resolve(false),
    take: (take) => takeRows(database.db, webhookCalls, { ...take, listeners: [] }),
    handle: () => Promise.resolve(),
    ...options,
  })
}

async function startSleepyLanes(database: Database, taken: LeasedCall[]): Promise<AsyncDisposable> {
  const lanes = sleepyLanes(database, { handle: async (call) => void taken.push(call) })
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

  test('a worker in the process that stores a call has it without being notified', async () => {
    await using engaged = await openBilling(engine)
    const { core } = engaged
    const client = new pg.Client({ connectionString: engaged.url })
    await client.connect()
    let notifications = 0
    client.on('notification', () => (notifications += 1))
    await client.query('listen quittance_calls')
    const worker = await core.work()
    const payments = await Promise.all(Array.from({ length: 20 }, () => newPayment(core)))
    await Promise.all(payments.map(({ id }) => sendFake(core, id, 'success')))
    await idle(core)
    assert.deepEqual(
      new Set(
        (await Promise.all(payments.map(({ id }) => core.payments.get(id)))).map(
          (payment) => payment?.status,
        ),
      ),
      new Set(['paid']),
    )
    await client.query('select')
    assert.equal(notifications, 0)
    await worker.stop()
    // From here on, others are told.
    await sendFake(core, randomUUID(), 'success')
    await until(() => notifications === 1, { what: 'a notification' })
    await client.end()
  })

  test('calls that come to lanes that have stopped go back to the others', async () => {
    const calls = await leasedCalls(billing, 2)
    const lanes = sleepyLanes(elsewhere, { take: () => Promise.resolve([]) })
    await lanes.stop(0)
    void lanes.give(calls)
    assert.equal(lanes.room(), 0)
    await until(async () => (await pendingOf(elsewhere, calls)) === calls.length, {
      what: 'they are pending',
    })
  })

  test('where rows turn slow, those that wait go back to the others', async () => {
    let isSlow = false
    let handled = 0
    let slow = 0
    const release = Promise.withResolvers<void>()
    const lanes = sleepyLanes(elsewhere, {
      most: 16,
      take: () => Promise.resolve([]),
      handle: async () => {
        handled += 1
        if (isSlow) await (slow++ === 0 ? pause(1_010) : release.promise)
      },
    })
    // Each quick one opens a lane.
    void lanes.give(await leasedCalls(billing, 60))
    await until(() => handled === 60, { what: 'the quick ones are handled' })
    isSlow = true
    const calls = await leasedCalls(billing, 32)
    void lanes.give(calls)
    assert.equal(lanes.room(), 0)
    // 16 are under way; the first one that is slow halves the lanes.
    await until(async () => (await pendingOf(elsewhere, calls)) > 0, { what: 'some are pending' })
    assert.equal(await pendingOf(elsewhere, calls), 8)
    release.resolve()
    await lanes.stop(1_000)
  })
})

const takeAll = { limit: 1_000, token: newUuid(), alone: false, listeners: [] }

/** Calls that are stored now, and leased by us. */
async function leasedCalls(
  { core, database }: TestBilling,
  count: number,
): Promise<readonly LeasedCall[]> {
  const before = new Set(await storedIds(database))
  await Promise.all(Array.from({ length: count }, () => sendFake(core, randomUUID(), 'success')))
  const taken = await takeRows<LeasedCall>(database.db, webhookCalls, takeAll)
  return taken.filter(({ id }) => !before.has(id))
}

async function pendingOf({ pool }: Database, calls: readonly LeasedCall[]): Promise<number> {
  const { rows } = await pool.query<{ pending: number }>(
    `select count(*)::int as pending from billing.webhook_calls
     where id = any($1) and state = 'pending'`,
    [calls.map(({ id }) => id)],
  )
  return rows[0]?.pending ?? 0
}

/** The connections that listen, by the ids of their processes on the server. */
async function listeners(database: Database): Promise<readonly number[]> {
  const { rows } = await database.pool.query<{ pid: number }>(
    `select pid from pg_stat_activity
     where application_name = $1 and datname = current_database() and state = 'idle'`,
    [workerApplicationName],
  )
  return rows.map(({ pid }) => pid)
}
