import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { after, afterEach, before, test } from 'node:test'
import type { BillingCore } from '../../src/billing/types.ts'
import { createCore } from '../../src/billing/create-core.ts'
import type { Database } from '../../src/database/connect.ts'
import { eventTypes, type EventType } from '../../src/events/catalogue.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { silentLog } from '../../src/kernel/log.ts'
import type { Listener } from '../../src/listeners/listener.ts'
import { createNumbers } from '../../src/numbers/slots.ts'
import type { PlannedEvent } from '../../src/subscriptions/events.ts'
import { sweepLeases } from '../../src/upkeep/sweep.ts'
import { openBilling, unhurried, until, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { fire, insertPeriod, insertSubscription } from '../support/subscription-rows.ts'

const subscriptionTypes = eventTypes.filter(
  (type) => type.startsWith('Subscription') || type.startsWith('Trial'),
)

const dispatched = { what: 'every event is dispatched' }
/** Three hundred events, some after others that wait for their turn alone. */
const manyDispatched = { ...dispatched, limitMs: 240_000 }

onAnyDatabase((engine) => {
  let billing: TestBilling
  let core: BillingCore
  let database: Database
  before(async () => {
    billing = await openBilling(engine)
    ;({ core, database } = billing)
    await database.pool.query(
      'create table told (place bigint generated always as identity, key text)',
    )
    core.on(subscriptionTypes, 'tell', (event, context) => hear(event, context))
  })
  afterEach(async () => {
    hear = tell
    await database.pool.query('truncate told')
  })
  after(() => billing.close())

  const tell: Listener<EventType> = async (event, { tx }) => {
    await tx.query('insert into told (key) values ($1)', [event.dedupKey])
  }
  let hear = tell
  /** What the listeners of all processes wrote, in the order of their commits. */
  const told = async () => {
    const { rows } = await database.pool.query<{ key: string }>(
      'select key from told order by place',
    )
    return rows.map(({ key }) => key)
  }
  /** Nobody waits for the next attempt. */
  const makeDue = () =>
    database.pool.query(`update billing.deferred_events set next_attempt_at = statement_timestamp()
      where state = 'pending' and next_attempt_at > statement_timestamp()`)
  const leftOver = async () => {
    const { rows } = await database.pool.query<{ state: string }>(
      `select state from billing.deferred_events where state <> 'processed' limit 10`,
    )
    return rows.map(({ state }) => state)
  }

  test('case 58: suspended, then renewed; the first listener throws twice: in order', async () => {
    let failures = 0
    hear = async (event, context) => {
      if (event.type === 'SubscriptionAccessSuspended' && failures < 2) {
        failures += 1
        throw new Error('not yet')
      }
      await tell(event, context)
    }
    const worker = await core.work()
    const id = await insertSubscription(database.db)
    const periodId = await insertPeriod(database.db, id)
    const planned: readonly PlannedEvent[] = [
      { type: 'SubscriptionAccessSuspended', data: { periodId } },
      {
        type: 'SubscriptionRenewed',
        data: { periodId, paymentId: null, previousStatus: 'past_due', skippedPeriods: 0 },
      },
    ]
    for (const one of planned) await database.transaction(({ db }) => fire(db, id, [one]))
    await until(async () => {
      await makeDue()
      return (await leftOver()).length === 0
    }, dispatched)
    await worker.stop()
    assert.equal(failures, 2)
    assert.deepEqual(await told(), [
      `SubscriptionAccessSuspended:${id}/1`,
      `SubscriptionRenewed:${id}/2`,
    ])
  })

  test('case 59: where a listener is missing they wait, in order, for a process that has it', async () => {
    const known = { name: 'elsewhere', event_types: ['SubscriptionResumed'], queued: false }
    const lacking = await core.work()
    await database.db.insertInto('billing.listeners').values(known).execute()
    const id = await insertSubscription(database.db)
    const resumed = { type: 'SubscriptionResumed', data: {} } as const
    await database.transaction(({ db }) => fire(db, id, [resumed, resumed]))
    assert.match((await lacking.ended)?.message ?? '', /elsewhere/)
    assert.deepEqual([await told(), await leftOver()], [[], ['pending', 'pending']])

    await core.listeners.forget('elsewhere')
    const worker = await core.work()
    await until(async () => (await leftOver()).length === 0, dispatched)
    await worker.stop()
    assert.deepEqual(
      await told(),
      [1, 2].map((number) => `SubscriptionResumed:${id}/${number}`),
    )
  })

  test('several workers, attempts that fail, leases that are lost: each once, in its order', async () => {
    await using others = new AsyncDisposableStack()
    const { url } = billing
    const thrown = new Set<string>()
    const wavering: Listener<EventType> = async (event, context) => {
      await tell(event, context)
      await pause(Math.random() * 4)
      if (Math.random() < 0.2 && !thrown.has(event.dedupKey)) {
        thrown.add(event.dedupKey)
        throw new Error('not yet')
      }
    }
    hear = wavering
    const cores: BillingCore[] = [core]
    if (url !== undefined) {
      for (const _ of [1, 2]) {
        const other = createCore({ database: { url, poolSize: 4 } }, unhurried)
        other.on(subscriptionTypes, 'tell', wavering)
        others.defer(() => other.close())
        cores.push(other)
      }
    }
    const workers = await Promise.all(cores.map((one) => one.work()))

    const [subscriptions, changes] = url === undefined ? [4, 6] : [25, 10]
    const ids: string[] = []
    for (let made = 0; made < subscriptions; made += 1) {
      ids.push(await insertSubscription(database.db))
    }
    const resumed = { type: 'SubscriptionResumed', data: {} } as const
    // Two writers for each: the row's lock decides which event comes first.
    const write = async (id: string) => {
      for (let left = changes / 2; left > 0; left -= 1) {
        await database.transaction(async ({ db }) => {
          await fire(db, id, [resumed, resumed])
          await pause(Math.random() * 3)
        })
      }
    }
    const left = [...ids]
    const writeSome = async () => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) {
        await Promise.all([write(id), write(id)])
      }
    }
    // No more at a time than there are connections: a writer that waits for one may give up.
    const writing = Promise.all([writeSome(), writeSome()])
    let isWritten = false
    const written = writing.then(() => void (isWritten = true))
    written.catch(() => {})
    let rounds = 0
    await until(async () => {
      await makeDue()
      rounds += 1
      if (rounds % 4 === 1 && rounds < 20) {
        // Their workers hang, as far as the sweeper knows.
        await database.pool.query(`update billing.deferred_events
          set lease_until = statement_timestamp() - interval '1 s' where state = 'processing'`)
        await sweepLeases(database, {
          log: silentLog,
          newId: newUuid,
          numbers: createNumbers(),
        })
        await database.pool.query(
          `update billing.deferred_events set leases_lost = 0 where state = 'pending'`,
        )
      }
      if (!isWritten) return false
      return (await leftOver()).length === 0
    }, manyDispatched)
    await written
    await workers[0]?.stop()
    await others.disposeAsync()

    const keys = await told()
    assert.equal(keys.length, subscriptions * changes * 2)
    for (const id of ids) {
      assert.deepEqual(
        keys.filter((key) => key.includes(id)),
        Array.from({ length: changes * 2 }, (_, index) => `SubscriptionResumed:${id}/${index + 1}`),
      )
    }
    assert.ok(thrown.size > 0)
  })

  test('they are shown with the subscription, its data and their state', async () => {
    const id = await insertSubscription(database.db)
    const other = await insertSubscription(database.db)
    const paused = {
      type: 'SubscriptionPaused',
      data: { reason: 'requested', resumesAt: null },
    } as const
    for (const one of [id, other]) await database.transaction(({ db }) => fire(db, one, [paused]))
    const worker = await core.work()
    await until(async () => (await leftOver()).length === 0, dispatched)
    await worker.stop()
    const { data } = await core.events.list({ subscriptionId: id })
    assert.deepEqual(
      data.map(({ type, subscriptionId, data: stored }) => [type, subscriptionId, stored]),
      [['SubscriptionPaused', id, { reason: 'requested', resumes_at: null }]],
    )
  })
})
