import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import pg from 'pg'
import { connect, type Database } from '../../../src/database/connect.ts'
import { silentLog } from '../../../src/kernel/log.ts'
import { databaseQueue } from '../../../src/queue/database-queue.ts'
import { capturedLog } from '../../support/captured-log.ts'
import { onPostgres, type TestDatabase } from '../../support/databases.ts'
import { muchPatience } from '../../support/patience.ts'
import { handTimers } from '../../support/hand-timers.ts'
import { until } from '../../support/until.ts'

/** Instead of a second. */
const reconnectAfter = 20

onPostgres((engine) => {
  let created: TestDatabase
  let database: Database
  /** What has to end with a test. */
  const ends: (() => Promise<void>)[] = []
  before(async () => {
    created = await engine.create()
    const { target } = created
    database = connect({
      target,
      log: silentLog,
      poolSize: 2,
      applicationName: 'tests',
      patience: muchPatience,
    })
  })
  afterEach(async () => {
    for (const end of ends.splice(0)) await end()
    await connectionsAre(0)
  })
  after(async () => {
    await database.close()
    await created.drop()
  })

  const listening = async () => {
    const { rows } = await database.pool.query<{ pid: number }>(
      `select pid from pg_stat_activity
       where application_name = 'quittance worker' and datname = current_database()`,
    )
    return rows.map(({ pid }) => pid)
  }
  const connectionsAre = (count: number) =>
    until(async () => (await listening()).length === count, { what: `${count} listen` })

  const cut = async () => {
    for (const pid of await listening()) {
      await database.pool.query('select pg_terminate_backend($1)', [pid])
    }
  }

  /** The number of notifications that other processes have got so far. */
  async function startHearing(): Promise<() => Promise<number>> {
    const client = new pg.Client(database.connection)
    await client.connect()
    ends.push(() => client.end())
    const heard: (string | undefined)[] = []
    client.on('notification', ({ payload }) => heard.push(payload))
    await client.query('listen quittance_calls')
    let asked = 0
    return async () => {
      // They come in the order of the commits: those before this one are there when it is.
      const mark = `mark ${(asked += 1)}`
      await database.pool.query(`notify quittance_calls, '${mark}'`)
      await until(() => heard.includes(mark), { what: mark })
      return heard.filter((payload) => payload === '').length
    }
  }

  /** A worker on a queue of its own: how often it was woken, and what was logged. */
  async function startWorker(
    given: Database = database,
    { after = reconnectAfter, ...options }: { everyQueue?: boolean; after?: number } = {},
  ) {
    const { log, lines } = capturedLog()
    const queue = databaseQueue(given, log, { reconnectAfter: after })
    let woken = 0
    const stop = await queue.subscribe(() => void (woken += 1), { everyQueue: true, ...options })
    ends.push(stop)
    const logged = () => lines.map(({ msg, err }) => [msg, (err as Error).message])
    const isWoken = (before: number) =>
      until(() => worker.woken() > before, { what: 'the worker is woken' })
    const worker = { queue, stop, woken: () => woken, isWoken, logged }
    return worker
  }

  async function startListening(after = reconnectAfter) {
    const worker = await startWorker(database, { after })
    await worker.isWoken(0)
    return worker
  }

  describe('an announcement', () => {
    test('wakes the workers of this process, and nobody else where one of them takes every queue', async () => {
      const heard = await startHearing()
      const worker = await startListening()
      ends.push(await worker.queue.subscribe(() => {}, { everyQueue: false }))
      const before = worker.woken()
      await worker.queue.announce()
      assert.equal(worker.woken(), before + 1)
      assert.equal(await heard(), 0)
      assert.deepEqual([worker.queue.name, worker.queue.inline], ['database', false])
    })

    test('goes to other processes where nobody here takes every queue', async () => {
      const heard = await startHearing()
      const worker = await startWorker(database, { everyQueue: false })
      await worker.queue.announce()
      assert.equal(await heard(), 1)
      await worker.stop()
      const woken = worker.woken()
      await worker.queue.announce()
      assert.equal(await heard(), 2, 'and without any worker here')
      assert.equal(worker.woken(), woken, 'a worker that has stopped is not woken')
    })

    test('of the embedded database goes to nobody else, and nobody listens for one', async () => {
      const heard = await startHearing()
      const embedded = await startWorker({ ...database, kind: 'embedded' }, { everyQueue: false })
      await embedded.queue.announce()
      assert.equal(embedded.woken(), 1)
      assert.equal(await heard(), 0)
      await startListening()
      assert.equal((await listening()).length, 1, 'the one that came after it')
      await embedded.stop()
    })

    test('shares a notification with those that come while another is on its way', async () => {
      const heard = await startHearing()
      const queue = databaseQueue(database, silentLog, { notifyEvery: 100 })
      for (const _ of [1, 2, 3, 4]) void queue.announce()
      await queue.flushed()
      assert.equal(await heard(), 2)
    })
  })

  describe('a worker that listens', () => {
    test('looks when it begins to listen, and at every notification', async () => {
      const worker = await startListening()
      assert.equal((await listening()).length, 1)
      const before = worker.woken()
      await database.pool.query('notify quittance_calls')
      await worker.isWoken(before)
      assert.deepEqual([worker.woken(), worker.logged()], [before + 1, []])
    })

    test('listens again when its connection is lost, and looks for what it may have missed', async () => {
      const worker = await startListening()
      for (const times of [1, 2]) {
        const before = worker.woken()
        await cut()
        await worker.isWoken(before)
        assert.equal(worker.logged().length, times, 'a lost connection is reported once')
        const [text, why] = worker.logged().at(-1) ?? []
        assert.equal(text, 'notifications lost, listening again')
        assert.match(String(why), /terminat/)
        await connectionsAre(1)
      }
    })

    test('leaves a server that was replaced, once', async () => {
      const worker = await startListening()
      const [first] = await listening()
      const before = worker.woken()
      database.reconnect()
      database.reconnect()
      await worker.isWoken(before)
      await connectionsAre(1)
      assert.deepEqual(worker.logged(), [
        ['notifications lost, listening again', 'it led to a read-only server'],
      ])
      assert.equal((await listening()).includes(first ?? 0), false)
    })

    test('does not stay on a server that takes no writes, until it does', async () => {
      const connection: pg.ClientConfig = {
        ...database.connection,
        options: '-c default_transaction_read_only=on',
      }
      const worker = await startWorker({ ...database, connection })
      await until(() => worker.logged().length > 1, { what: 'it has tried twice' })
      const refused = ['notifications lost, listening again', 'the server is read-only']
      assert.deepEqual(worker.logged().slice(0, 2), [refused, refused])
      assert.equal(worker.woken(), 0)
      connection.options = ''
      await worker.isWoken(0)
      await connectionsAre(1)
    })

    test('holds no connection after it has stopped, and opens none', async () => {
      const calm = await startListening()
      await calm.stop()
      await connectionsAre(0)
      database.reconnect()
      using pause = handTimers()
      const waiting = await startListening(pause.lengthMs)
      await cut()
      await until(() => pause.running === 1, { what: 'it waits to listen again' })
      await waiting.stop()
      pause.strike()
      // Begun later: had the other one begun again, both would listen by now.
      await startListening()
      await connectionsAre(1)
      assert.deepEqual([waiting.logged().length, calm.logged()], [1, []])
    })
  })
})
