import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql, type Insertable, type Kysely } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import type { Tables } from '../../src/database/tables.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { asNew } from '../../src/leases/queue-rows.ts'
import { replayFailed } from '../../src/upkeep/replay-failed.ts'
import {
  newPayment,
  openBilling,
  sendFake,
  idle,
  until,
  type TestBilling,
} from '../support/billing.ts'
import { runHosted } from '../support/command-host.ts'
import { onAnyDatabase, onPostgres } from '../support/databases.ts'
import { deploy, type Deployment } from '../support/deployment.ts'
import { insertSubscription } from '../support/subscription-rows.ts'
import { untilBlocked } from '../support/until-blocked.ts'

async function failCalls({ db }: Database, count: number, gateway = 'fake'): Promise<void> {
  await sql`
    insert into billing.webhook_calls
      (id, gateway, queue, url, headers, kind, payload, state, attempts, processed_at)
    select gen_random_uuid(), ${gateway}, 'default', '/', '{}', 'json', '{}', 'failed', 3,
      clock_timestamp() - interval '1 minute'
    from generate_series(1, ${count}::int)`.execute(db)
}

type Columns = Partial<Insertable<Tables['billing.deferred_events']>>

/** Deferred events that have failed. */
async function deferFailed(db: Kysely<Tables>, ...events: readonly Columns[]): Promise<void> {
  const rows = events.map((event) => {
    const [id, key] = [newUuid(), newUuid()]
    const what = { dedup_key: key, type: 'SubscriptionResumed', cause: 'poll' } as const
    const row = {
      id,
      queue: 'default',
      state: 'failed',
      processed_at: new Date(0),
    } as const
    return { ...row, ...what, ...event }
  })
  await db.insertInto('billing.deferred_events').values(rows).execute()
}

/** An event whose delivery to a queued listener has failed. */
async function deliverFailed(
  db: Kysely<Tables>,
  about: Partial<Insertable<Tables['billing.events']>>,
): Promise<void> {
  const id = newUuid()
  const event = { id, dedup_key: id, type: 'SubscriptionResumed', source: 'poll' } as const
  await db
    .insertInto('billing.events')
    .values({ ...event, data: '{}', ...about })
    .execute()
  const row = {
    id: newUuid(),
    queue: 'default',
    state: 'failed',
    processed_at: new Date(0),
  } as const
  await db
    .insertInto('billing.deliveries')
    .values({ ...row, event_id: id, listener: 'x' })
    .execute()
}

async function statesOf({ db }: Database): Promise<Readonly<Record<string, number>>> {
  const { rows } = await sql<{ state: string; count: number }>`
    select state, count(*)::int as count from billing.webhook_calls group by state`.execute(db)
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

onAnyDatabase((engine) => {
  describe('billing.calls.replayFailed', () => {
    let billing: TestBilling
    before(async () => {
      billing = await openBilling(engine)
    })
    after(() => billing.close())
    beforeEach(async () => {
      for (const table of ['deliveries', 'deferred_events', 'events', 'webhook_calls']) {
        await sql`delete from ${sql.table(`billing.${table}`)}`.execute(billing.database.db)
      }
    })

    test('queues every failed call once, and tells how far it is', async () => {
      await failCalls(billing.database, 250)
      const told: (readonly [number, number])[] = []
      const result = await billing.core.calls.replayFailed({}, (...step) => told.push(step))
      assert.deepEqual(result, { replayedCalls: 250, replayedDeliveries: 0 })
      assert.deepEqual(await statesOf(billing.database), { pending: 250 })
      assert.deepEqual(told.slice(0, 3), [
        [100, 250],
        [200, 250],
        [250, 250],
      ])
      assert.deepEqual(await billing.core.calls.replayFailed(), {
        replayedCalls: 0,
        replayedDeliveries: 0,
      })
    })

    test('passes over what somebody else finished meanwhile, and what fails anew', async () => {
      const { db } = billing.database
      await failCalls(billing.database, 120)
      const result = await replayFailed(db, {
        announce: async () => {
          await sql`update billing.webhook_calls set state = 'processed'
            where state = 'failed'`.execute(db)
          await sql`update billing.webhook_calls
            set state = 'failed', processed_at = clock_timestamp() + interval '1 ms'
            where state = 'pending'`.execute(db)
        },
      })
      assert.deepEqual(result, { replayedCalls: 100, replayedDeliveries: 0 })
      assert.deepEqual(await statesOf(billing.database), { failed: 100, processed: 20 })
    })

    test('tries queued listeners again that had failed for good', async () => {
      await using billing = await openBilling(engine)
      let broken = true
      let mails = 0
      billing.core.on(
        'PaymentSucceeded',
        'mail',
        () => {
          if (broken) throw new Error('no mail server')
          mails += 1
        },
        { queued: true },
      )
      await billing.core.work()
      const payment = await newPayment(billing.core)
      await sendFake(billing.core, payment.id, 'success')
      await idle(billing.core)
      await sql`update billing.deliveries set state = 'failed', lease_token = null,
        lease_until = null, processed_at = clock_timestamp()`.execute(billing.database.db)
      broken = false
      const other = await billing.core.calls.replayFailed({ gateway: 'stripe' })
      assert.deepEqual(other, { replayedCalls: 0, replayedDeliveries: 0 })
      const result = await billing.core.calls.replayFailed({ gateway: 'fake' })
      assert.deepEqual(result, { replayedCalls: 0, replayedDeliveries: 1 })
      await until(() => mails > 0, { what: 'the mail is sent' })
      assert.equal(mails, 1)
    })

    test('of one gateway: also what is about no payment of it, but about its cards and subscriptions', async () => {
      const { db } = billing.database
      const ofCard = async (gateway: string) => {
        const id = newUuid()
        const card = { id, gateway, status: 'attached' as const, provider_reference: id }
        await db.insertInto('billing.payment_methods').values(card).execute()
        return { payment_method_id: id }
      }
      const ofSubscription = async (gateway: string) => ({
        subscription_id: await insertSubscription(db, { gateway }),
      })
      for (const about of [ofCard, ofSubscription]) {
        await deferFailed(db, await about('stripe'))
        await deferFailed(db, await about('fake'))
        await deliverFailed(db, await about('stripe'))
        await deliverFailed(db, await about('fake'))
      }
      const replayed = async (gateway?: string) =>
        (await billing.core.calls.replayFailed({ ...(gateway !== undefined && { gateway }) }))
          .replayedDeliveries
      assert.deepEqual([await replayed('stripe'), await replayed('stripe')], [4, 0])
      assert.deepEqual([await replayed('fake'), await replayed()], [4, 0])
    })

    test('those of a subscription by their numbers: ids are by the clocks of several processes', async () => {
      const { db } = billing.database
      const subscription = { subscription_id: await insertSubscription(db) }
      const ids = Array.from({ length: 102 }, () => newUuid()).toReversed()
      const numbers = ids.map((_id, index) => index + 1)
      await deferFailed(
        db,
        ...ids.map((id, index) => ({ ...subscription, id, event_number: index + 1 })),
      )
      await billing.core.calls.replayFailed()
      // Each batch has a time of its own.
      const { rows } = await sql<{ number: number }>`
        select event_number as number from billing.deferred_events
        order by next_attempt_at, event_number`.execute(db)
      assert.deepEqual(
        rows.map(({ number }) => number),
        numbers,
      )
    })
  })
})

onPostgres((engine) => {
  describe('calls replay --failed', () => {
    let deployment: Deployment
    let database: Database
    before(async () => {
      deployment = await deploy(engine)
      database = await deployment.connect()
    })
    after(async () => {
      await database.close()
      await deployment.remove()
    })
    const run = (...args: readonly string[]) =>
      runHosted(['calls', 'replay', '--failed', ...args], deployment)

    test('queues those of a gateway, then the rest, and nothing on standard error', async () => {
      await failCalls(database, 3)
      await failCalls(database, 2, 'stripe')
      const alias = await run('--gateway', 'alpha', '--json')
      assert.deepEqual(JSON.parse(alias.stdout.join('')), {
        replayed_calls: 2,
        replayed_deliveries: 0,
      })
      const rest = await run()
      assert.deepEqual(rest.stdout, ['Queued 3 calls again. A worker processes them.'])
      assert.deepEqual([alias.stderr, rest.stderr, rest.code], [[], [], 0])
      assert.deepEqual((await run()).stdout, ['Nothing has failed.'])
    })

    test('leaves those that came before --since', async () => {
      await failCalls(database, 1)
      await sql`update billing.webhook_calls set received_at = now() - interval '2 days'
        where state = 'failed'`.execute(database.db)
      assert.deepEqual((await run('--since', '24h')).stdout, ['Nothing has failed.'])
      const since = new Date(performance.timeOrigin - 3 * 24 * 3600 * 1000).toISOString()
      assert.match((await run('--since', since)).stdout.join(''), /^Queued 1 calls? again/)
    })

    test('says what is wrong with its usage in one line', async () => {
      const id = '01890000-0000-7000-8000-000000000000'
      const rows = [
        [['calls', 'replay'], /give the id of a call, or --failed/],
        [['calls', 'replay', id, '--failed'], /either the id of a call, or --failed/],
        [['calls', 'replay', id, '--since', '1h'], /either the id of a call, or --failed/],
        [['calls', 'replay', '--failed', '--since', 'soon'], /24h/],
        [['calls', 'replay', '--failed', '--since', '2026-99-99'], /24h/],
      ] as const
      for (const [args, pattern] of rows) {
        const { code, stderr } = await runHosted(args, deployment)
        assert.equal(code, 2, args.join(' '))
        assert.equal(stderr.length, 1, stderr.join('\n'))
        assert.match(stderr[0] ?? '', pattern)
      }
    })
  })

  test('two runs at once: an event waits again only after those before it', async () => {
    await using billing = await openBilling(engine)
    const { db } = billing.database
    const subscription = { subscription_id: await insertSubscription(db) }
    await deferFailed(db, ...[1, 2, 3].map((number) => ({ ...subscription, event_number: number })))
    const meanwhile = await db.transaction().execute(async (other) => {
      await sql`update billing.deferred_events set ${asNew} where event_number = 1`.execute(other)
      const run = replayFailed(db, { announce: async () => {} })
      await untilBlocked(db, run)
      const { rows } =
        await sql`select from billing.deferred_events where state = 'pending'`.execute(db)
      return { run, waiting: rows.length }
    })
    assert.equal(meanwhile.waiting, 0)
    assert.deepEqual(await meanwhile.run, { replayedCalls: 0, replayedDeliveries: 2 })
  })
})
