import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { connect, type Database } from '../../../src/database/connect.ts'
import { silentLog } from '../../../src/kernel/log.ts'
import { databaseQueue, workerApplicationName } from '../../../src/queue/database.ts'
import { capturedLog } from '../../support/captured-log.ts'
import { onPostgres, type TestDatabase } from '../../support/databases.ts'
import { until } from '../../support/until.ts'

onPostgres((engine) => {
  let created: TestDatabase
  let database: Database
  /** What has to end with a test. */
  const ends: (() => Promise<void>)[] = []
  before(async () => {
    created = await engine.create()
    const { target } = created
    database = connect({ target, log: silentLog, poolSize: 2, applicationName: 'tests' })
  })
  afterEach(async () => {
    for (const end of ends.splice(0)) await end()
  })
  after(async () => {
    await database.close()
    await created.drop()
  })

  const listening = async () => {
    const { rows } = await database.pool.query<{ pid: number }>(
      'select pid from pg_stat_activity where application_name = $1 and datname = current_database()',
      [workerApplicationName],
    )
    return rows.map(({ pid }) => pid)
  }

  const cut = async () => {
    for (const pid of await listening()) {
      await database.pool.query('select pg_terminate_backend($1)', [pid])
    }
  }

  /** Notifications that other processes get. */
  async function startHearing(): Promise<{ count(): number }> {
    const client = new pg.Client(database.connection)
    await client.connect()
    let heard = 0
    client.on('notification', ({ channel }) => (heard += Number(channel === 'quittance_calls')))
    await client.query('listen quittance_calls')
    ends.push(() => client.end())
    return { count: () => heard }
  }

  /** A worker on a queue of its own: how often it was woken, and what was logged. */
  async function startWorker(given: Database = database, options?: { everyQueue: boolean }) {
    const { log, lines } = capturedLog()
    const queue = databaseQueue(given, log)
    let woken = 0
    const stop = await queue.subscribe(() => void (woken += 1), options)
    ends.push(stop)
    const logged = () => lines.map(({ msg, err }) => [msg, (err as Error).message])
    return { queue, stop, woken: () => woken, logged }
  }

  const started = async (worker: { woken(): number }) =>
    until(() => worker.woken() > 0, { what: 'it listens' })

  describe('an announcement', () => {
    test('wakes the workers of this process, and nobody else where one of them takes every queue', async () => {
      const hearing = await startHearing()
      const worker = await startWorker()
      const second = await worker.queue.subscribe(() => {}, { everyQueue: false })
      ends.push(second)
      await started(worker)
      const before = worker.woken()
      await worker.queue.announce()
      assert.equal(worker.woken(), before + 1)
      await pause(100)
      assert.equal(hearing.count(), 0)
      assert.deepEqual([worker.queue.name, worker.queue.inline], ['database', false])
    })

    test('goes to other processes where nobody here takes every queue', async () => {
      const hearing = await startHearing()
      const worker = await startWorker(database, { everyQueue: false })
      await worker.queue.announce()
      await until(() => hearing.count() === 1, { what: 'the others hear of it' })
      await worker.stop()
      const woken = worker.woken()
      await worker.queue.announce()
      await until(() => hearing.count() === 2, { what: 'they hear of it without any worker here' })
      assert.equal(worker.woken(), woken, 'a worker that has stopped is not woken')
    })

    test('of the embedded database goes to nobody else', async () => {
      const notified: unknown[] = []
      const pool = { query: async (text: unknown) => notified.push(text) }
      const embedded = { ...database, kind: 'embedded', pool } as unknown as Database
      const queue = databaseQueue(embedded, silentLog)
      const stop = await queue.subscribe(() => {}, { everyQueue: false })
      await queue.announce()
      assert.deepEqual([notified, await listening()], [[], []])
      await stop()
    })

    test('is sent by one that begins after it; several that come meanwhile share the next one', async () => {
      const sent: PromiseWithResolvers<void>[] = []
      const query = () => {
        const one = Promise.withResolvers<void>()
        sent.push(one)
        return one.promise
      }
      const queue = databaseQueue(
        { ...database, pool: { query } } as unknown as Database,
        silentLog,
      )
      let resolved = 0
      const announce = () =>
        void queue.announce().then(
          () => (resolved += 1),
          () => {},
        )
      announce()
      for (const _ of [1, 2, 3]) announce()
      assert.equal(sent.length, 1)
      let flushed = false
      void queue.flushed().then(() => (flushed = true))
      sent[0]?.resolve()
      await until(() => sent.length === 2, { what: 'the next one' })
      assert.deepEqual([resolved, flushed], [1, false])
      sent[1]?.resolve()
      await until(() => flushed, { what: 'all are passed on' })
      assert.deepEqual([resolved, sent.length], [4, 2])
      announce()
      assert.equal(sent.length, 3, 'where none is under way it is sent at once')
      sent[2]?.reject(new Error('away'))
      await queue.flushed()
      await queue.flushed()
    })
  })

  describe('a worker that listens', () => {
    test('looks when it begins to listen, and at every notification', async () => {
      const worker = await startWorker()
      await started(worker)
      assert.equal((await listening()).length, 1)
      const before = worker.woken()
      await database.pool.query('notify quittance_calls')
      await until(() => worker.woken() === before + 1, { what: 'it is woken' })
      assert.deepEqual(worker.logged(), [])
    })

    test('listens again when its connection is lost, and looks for what it may have missed', async () => {
      const worker = await startWorker()
      await started(worker)
      const before = worker.woken()
      await cut()
      await until(() => worker.woken() > before, { what: 'it looks again' })
      const [line = [], ...more] = worker.logged()
      assert.equal(line[0], 'notifications lost, listening again')
      assert.match(String(line[1]), /terminat/)
      assert.deepEqual(more, [], 'a lost connection is reported once')
      assert.equal((await listening()).length, 1)
    })

    test('leaves a server that was replaced', async () => {
      const worker = await startWorker()
      await started(worker)
      const [first] = await listening()
      const before = worker.woken()
      database.reconnect()
      await until(() => worker.woken() > before, { what: 'it listens elsewhere' })
      assert.deepEqual(worker.logged(), [
        ['notifications lost, listening again', 'it led to a read-only server'],
      ])
      assert.equal((await listening()).includes(first ?? 0), false)
    })

    test('does not stay on a server that takes no writes', async () => {
      const connection = {
        ...database.connection,
        options: '-c default_transaction_read_only=on',
      }
      const worker = await startWorker({ ...database, connection })
      await until(() => worker.logged().length > 0, { what: 'it says so' })
      assert.deepEqual(worker.logged()[0], [
        'notifications lost, listening again',
        'the server is read-only',
      ])
      assert.equal(worker.woken(), 0)
    })

    test('holds no connection after it has stopped, and opens none', async () => {
      const calm = await startWorker()
      await started(calm)
      await calm.stop()
      await until(async () => (await listening()).length === 0, { what: 'its connection ends' })
      database.reconnect()
      const waiting = await startWorker()
      await started(waiting)
      await cut()
      await until(() => waiting.logged().length > 0, { what: 'it waits to listen again' })
      await waiting.stop()
      await pause(1_200)
      assert.deepEqual([await listening(), calm.logged()], [[], []])
    })
  })
})
