import { createNumbers } from '../../src/numbers/slots.ts'
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'node:test'
import type { BillingCore } from '../../src/billing/types.ts'
import { createCore } from '../../src/billing/create-core.ts'
import type { Database } from '../../src/database/connect.ts'
import { eventTypes, type EventType } from '../../src/events/catalogue.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { silentLog } from '../../src/kernel/log.ts'
import type { Listener } from '../../src/listeners/listener.ts'
import type { PlannedEvent } from '../../src/subscriptions/change.ts'
import { sweepLeases } from '../../src/upkeep/sweep.ts'
import { openBilling, until } from '../support/billing.ts'
import { forEachDatabase } from '../support/databases.ts'
import { fire, insertPeriod, insertSubscription } from '../support/subscription-rows.ts'

const subscriptionTypes = eventTypes.filter(
  (type) => type.startsWith('Subscription') || type.startsWith('Trial'),
)

const dispatched = { what: 'every event is dispatched' }

forEachDatabase((engine) => {
  /** What the listeners of all processes wrote, in the order of their commits. */
  const toldOf = async ({ pool }: Database) => {
    const { rows } = await pool.query<{ key: string }>('select key from told order by place')
    return rows.map(({ key }) => key)
  }
  const createTold = ({ pool }: Database) =>
    pool.query('create table told (place bigint generated always as identity, key text)')
  /** Nobody waits for the next attempt. */
  const makeDue = ({ pool }: Database) =>
    pool.query(`update billing.deliveries set next_attempt_at = statement_timestamp()
      where state = 'waiting' and next_attempt_at > statement_timestamp()`)
  const leftOver = async ({ pool }: Database) => {
    const { rows } = await pool.query<{ state: string }>(
      `select state from billing.deliveries where state <> 'processed'`,
    )
    return rows.map(({ state }) => state)
  }
  const tell: Listener<EventType> = async (event, { tx }) => {
    await tx.query('insert into told (key) values ($1)', [event.dedupKey])
  }

  test('case 58: suspended, then renewed; the first listener throws twice: in order', async () => {
    await using billing = await openBilling(engine)
    const { core, database } = billing
    await createTold(database)
    let failures = 0
    core.on(subscriptionTypes, 'tell', async (event, context) => {
      if (event.type === 'SubscriptionAccessSuspended' && failures < 2) {
        failures += 1
        throw new Error('not yet')
      }
      await tell(event, context)
    })
    await core.work()
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
      await makeDue(database)
      return (await leftOver(database)).length === 0
    }, dispatched)
    assert.equal(failures, 2)
    assert.deepEqual(await toldOf(database), [
      `SubscriptionAccessSuspended:${id}/1`,
      `SubscriptionRenewed:${id}/2`,
    ])
  })

  test('case 59: where a listener is missing they wait, in order, for a process that has it', async () => {
    await using billing = await openBilling(engine)
    const { core, database } = billing
    await createTold(database)
    const known = { name: 'elsewhere', event_types: ['SubscriptionResumed'], queued: false }
    core.on(subscriptionTypes, 'tell', tell)
    await core.work()
    await database.db.insertInto('billing.listeners').values(known).execute()
    const id = await insertSubscription(database.db)
    const resumed = { type: 'SubscriptionResumed', data: {} } as const
    await database.transaction(({ db }) => fire(db, id, [resumed, resumed]))
    await pause(300)
    assert.deepEqual(
      [await toldOf(database), await leftOver(database)],
      [[], ['waiting', 'waiting']],
    )

    // The worker has ended for the lack of it; one that has it comes.
    await core.listeners.forget('elsewhere')
    const worker = await core.work()
    await until(async () => (await leftOver(database)).length === 0, dispatched)
    await worker.stop()
    assert.deepEqual(
      await toldOf(database),
      [1, 2].map((number) => `SubscriptionResumed:${id}/${number}`),
    )
  })

  test('several workers, attempts that fail, leases that are lost: each once, in its order', async () => {
    await using billing = await openBilling(engine)
    const { core, database, url } = billing
    await createTold(database)
    const thrown = new Set<string>()
    const wavering: Listener<EventType> = async (event, context) => {
      await tell(event, context)
      await pause(Math.random() * 4)
      if (Math.random() < 0.2 && !thrown.has(event.dedupKey)) {
        thrown.add(event.dedupKey)
        throw new Error('not yet')
      }
    }
    core.on(subscriptionTypes, 'tell', wavering)
    const others: BillingCore[] = []
    if (url !== undefined) {
      for (const _ of [1, 2]) {
        const other = createCore({ database: { url } })
        other.on(subscriptionTypes, 'tell', wavering)
        others.push(other)
      }
    }
    for (const one of [core, ...others]) await one.work()

    const [subscriptions, changes] = url === undefined ? [4, 6] : [25, 10]
    const ids = await Promise.all(
      Array.from({ length: subscriptions }, () => insertSubscription(database.db)),
    )
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
    const writing = Promise.all(ids.flatMap((id) => [write(id), write(id)]))
    let rounds = 0
    await until(
      async () => {
        await makeDue(database)
        rounds += 1
        if (rounds % 4 === 1 && rounds < 20) {
          // Their workers hang, as far as the sweeper knows.
          await database.pool.query(`update billing.deliveries
          set lease_until = statement_timestamp() - interval '1 s' where state = 'held'`)
          await sweepLeases(database, {
            log: silentLog,
            newId: newUuid,
            numbers: createNumbers(),
          })
          await database.pool.query(
            `update billing.deliveries set leases_lost = 0 where state = 'waiting'`,
          )
        }
        const left = await leftOver(database)
        return (
          left.length === 0 && (await Promise.race([writing, pause(0, 'writing')])) !== 'writing'
        )
      },
      { ...dispatched, limitMs: 60_000 },
    )
    for (const one of others) await one.close()

    const told = await toldOf(database)
    assert.equal(told.length, subscriptions * changes * 2)
    for (const id of ids) {
      assert.deepEqual(
        told.filter((key) => key.includes(id)),
        Array.from({ length: changes * 2 }, (_, index) => `SubscriptionResumed:${id}/${index + 1}`),
      )
    }
    assert.ok(thrown.size > 0)
  })

  test('they are shown with the subscription, its data and their state', async () => {
    await using billing = await openBilling(engine)
    const { core, database } = billing
    const id = await insertSubscription(database.db)
    const other = await insertSubscription(database.db)
    const paused = {
      type: 'SubscriptionPaused',
      data: { reason: 'requested', resumesAt: null },
    } as const
    for (const one of [id, other]) await database.transaction(({ db }) => fire(db, one, [paused]))
    core.on('SubscriptionPaused', 'pause', () => {})
    await core.work()
    await until(async () => (await leftOver(database)).length === 0, dispatched)
    const { data } = await core.events.list({ subscriptionId: id })
    assert.deepEqual(
      data.map(({ type, subscriptionId, data: stored }) => [type, subscriptionId, stored]),
      [['SubscriptionPaused', id, { reason: 'requested', resumes_at: null }]],
    )
  })
})
