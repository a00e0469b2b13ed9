import assert from 'node:assert/strict'
import { afterEach, test, type TestContext } from 'node:test'
import type { Database } from '../../../src/database/connect.ts'
import { databaseQueue } from '../../../src/queue/database-queue.ts'
import { startWorker, type LocalWorker, type WorkerOptions } from '../../../src/worker/worker.ts'
import { onPostgres } from '../../support/databases.ts'
import { paid } from '../../support/statements.ts'
import { until } from '../../support/until.ts'
import {
  call,
  callRow,
  deferral,
  deferredRow,
  newcomer,
  payment,
  paying,
  statements,
  useRoom,
} from '../processing/room.ts'

onPostgres(() => {
  const room = useRoom()
  const started: LocalWorker[] = []
  afterEach(async () => {
    for (const worker of started.splice(0)) await worker.stop()
  })

  /** A worker that looks for nothing by itself: only what wakes it helps, or the clock. */
  const start = async (t: TestContext, options: Partial<WorkerOptions> = {}) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const { processing } = room
    const queue = databaseQueue(processing.database, processing.log)
    const worker = await startWorker({ processing, queue, lanes: 2, ...options })
    started.push(worker)
    return { ...worker, announce: queue.announce, passSecond: () => t.mock.timers.tick(1_000) }
  }

  /** An event that is out of date: it ends without anybody hearing of it. */
  const outdated = ({ id }: { readonly id: string }) => ({
    dedup_key: `payment:failed:${id}`,
    type: 'PaymentFailed',
    payment_id: id,
    cause: 'poll' as const,
  })

  /** A stored callback and a deferred event that nobody has taken; what has become of them. */
  const waiting = async (queue = 'default'): Promise<() => Promise<string>> => {
    const order = await payment(room)
    const stored = await call(room, [paid(order)], { queue })
    const settled = await payment(room, { status: 'paid' })
    const due = await deferral(room, { ...outdated(settled), queue })
    const free = { state: 'pending', lease_token: null, lease_until: null } as const
    await room.db
      .updateTable('billing.webhook_calls')
      .set(free)
      .where('id', '=', stored.id)
      .execute()
    await room.db
      .updateTable('billing.deferred_events')
      .set(free)
      .where('id', '=', due.id)
      .execute()
    return async () => {
      const rows = [await callRow(room, stored), await deferredRow(room, due)]
      return rows.map(({ state }) => state).join(' ')
    }
  }
  const processed = (states: () => Promise<string>) =>
    until(async () => (await states()) === 'processed processed', { what: 'both are processed' })

  test('a worker that is woken looks for calls and deferred events; one that hears of calls, for calls', async (t) => {
    const first = await waiting()
    const worker = await start(t)
    await processed(first)
    const second = await waiting()
    worker.wake()
    await processed(second)
    const third = await waiting()
    await worker.announce()
    await until(async () => (await third()) === 'processed pending', { what: 'the call is' })
    worker.wake()
    await processed(third)
  })

  for (const [woken, mark] of [
    ['subscription_events', 'and outbox'],
    ['deliveries', '"billing"."deliveries"'],
  ] as const) {
    test(`a worker that is woken for ${woken} looks for nothing else`, async (t) => {
      const { database, log } = room.processing
      const deaf = { ...databaseQueue(database, log), subscribe: async () => async () => {} }
      const sent = statements(t)
      const looks = (text: string) => sent.filter((one) => one.includes(text)).length
      const worker = await start(t, { queue: deaf })
      await until(() => looks('"billing"."webhook_calls"') > 0 && looks(mark) > 0, {
        what: 'all have been looked for',
      })
      const states = await waiting()
      for (const what of ['they are looked for', 'they are looked for again']) {
        sent.length = 0
        worker.wake(woken)
        await until(() => looks(mark) > 0, { what })
      }
      assert.equal(await states(), 'pending pending')
      worker.wake()
      await processed(states)
    })
  }

  test('a deferred event that cost a worker its life is looked for every five seconds', async (t) => {
    const states = await waiting()
    await room.db.updateTable('billing.deferred_events').set({ leases_lost: 1 }).execute()
    const worker = await start(t)
    const passSecond = async () => {
      worker.passSecond()
      return (await states()) === 'processed processed'
    }
    await until(passSecond, { what: 'both are processed' })
  })

  test('a worker for every queue leaves nothing for which others have to be notified', async (t) => {
    const sent = statements(t)
    const worker = await start(t)
    await worker.announce()
    assert.deepEqual(
      sent.filter((text) => text.startsWith('notify')),
      [],
    )
  })

  test('a worker for some queues takes from these alone, and others are notified', async (t) => {
    const sent = statements(t)
    const [other, ours] = [await waiting('other'), await waiting()]
    const worker = await start(t, { queues: ['default'] })
    await processed(ours)
    assert.equal(await other(), 'pending pending')
    await worker.announce()
    assert.equal(sent.filter((text) => text.startsWith('notify')).length, 1)
  })

  test('a worker takes calls that are handed over', async (t) => {
    const { leased } = await paying(room)
    const { handOver = assert.fail() } = await start(t)
    await until(() => handOver.room() > 0, { what: 'there is room' })
    void handOver.give([leased])
    const isProcessed = async () => (await callRow(room, leased)).state === 'processed'
    await until(isProcessed, { what: 'it is processed' })
  })

  test('a worker that lacks a listener of another process ends within a second, and says which', async (t) => {
    const worker = await start(t)
    worker.passSecond()
    await newcomer(room, 'PaymentSucceeded')
    worker.passSecond()
    assert.match(
      String(await worker.ended),
      /lacks the listener\(s\) newcomer \(PaymentSucceeded\)/,
    )
    await room.db.deleteFrom('billing.listeners').execute()
    const states = await waiting()
    await worker.announce()
    assert.equal(await states(), 'pending pending')
  })

  test('a worker outlives a database that is away', async (t) => {
    const { processing } = room
    const { database } = processing
    let refused = 0
    let isAway = false
    const unsteady: Database = {
      ...database,
      get db() {
        if (!isAway) return database.db
        refused += 1
        throw new Error('away')
      },
    }
    const worker = await start(t, { processing: { ...processing, database: unsteady } })
    isAway = true
    worker.passSecond()
    assert.ok(refused > 0)
    isAway = false
    const states = await waiting()
    worker.wake()
    await processed(states)
  })

  test('a worker that stops ends what it has begun, and looks for nothing more', async (t) => {
    const heard = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    room.on('PaymentSucceeded', () => {
      heard.resolve()
      return held.promise
    })
    const first = await waiting()
    const worker = await start(t)
    await heard.promise
    const isDelivered = async () => (await first()).endsWith(' processed')
    await until(isDelivered, { what: 'the delivery has begun, too' })
    const stopping = worker.stop()
    const sent = statements(t)
    held.resolve()
    await Promise.all([stopping, worker.stop()])
    assert.equal(await worker.ended, undefined)
    assert.equal(await first(), 'processed processed')
    sent.length = 0
    worker.passSecond()
    await worker.announce()
    assert.deepEqual(
      sent.filter((text) => text !== 'notify quittance_calls'),
      [],
    )
  })
})
