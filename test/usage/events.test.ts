import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { hours } from '../../src/kernel/duration.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { outboxEvents } from '../../src/queue/deferred-events.ts'
import { finishRows, takeRows } from '../../src/leases/queue-rows.ts'
import { openBilling, until } from '../support/billing.ts'
import { onAnyDatabase, onPostgres } from '../support/databases.ts'
import { endWindowIn, sell } from './selling.ts'

onAnyDatabase((engine) => {
  test('listeners hear of a quota in its order, also where the first of them is tried again', async () => {
    await using billing = await openBilling(engine)
    const { core, database } = billing
    const heard: string[] = []
    let failures = 1
    core.on('UsageLimitReached', 'hearLimit', ({ quota, limit, used, percent, subscription }) => {
      if (percent === 50 && failures > 0) {
        failures -= 1
        throw new Error('not yet')
      }
      heard.push(`${quota} ${percent} ${used}/${limit} ${typeof used} ${subscription.status}`)
    })
    core.on('SubscriptionQuotaReset', 'hearReset', (event) => {
      const { quota, limit, used, windowStartsAt, windowEndsAt } = event
      const length = Number(windowEndsAt) - windowStartsAt.getTime()
      heard.push(`${quota} reset ${limit} after ${used} ${typeof used} for ${length / hours(1)} h`)
    })
    core.on(
      'UsageLimitReached',
      'hearLater',
      ({ quota, used }) => {
        heard.push(`queued ${quota} ${typeof used}`)
      },
      { queued: true },
    )
    core.on('SubscriptionRenewed', 'hearRenewal', ({ subscription }) => {
      heard.push(`renewed ${subscription.status}`)
    })
    const quotas = { api_calls: { limit: 10, every: 'day', percents: [50, 100] } } as const
    const id = await sell(core, quotas)
    await core.usage.record({ subscriptionId: id, quota: 'api_calls', units: 10, key: 'a' })
    await core.work()
    await until(() => heard.includes('renewed active'), { what: 'it renews' })
    await endWindowIn(database, id, 0)
    await core.usage.record({ subscriptionId: id, quota: 'api_calls', units: 5, key: 'b' })
    await until(
      async () => {
        // Its retry is due at once.
        await sql`update billing.deferred_events set next_attempt_at = statement_timestamp()
        where state = 'pending'`.execute(database.db)
        return heard.filter((one) => one.startsWith('queued')).length === 3
      },
      { what: 'all are heard' },
    )
    const inOrder = heard.filter((one) => one.startsWith('api_calls'))
    assert.deepEqual(inOrder, [
      'api_calls 50 10/10 bigint active',
      'api_calls 100 10/10 bigint active',
      'api_calls reset 10 after 10 bigint for 24 h',
      'api_calls 50 5/10 bigint active',
    ])
    const { data } = await core.events.list({ subscriptionId: id, type: 'UsageLimitReached' })
    assert.deepEqual(
      data.map(({ source, data: stored }) => [source, stored['used']]),
      [
        ['operator', '5'],
        ['operator', '10'],
        ['operator', '10'],
      ],
    )
  })
})

onPostgres((engine) => {
  test('an event of a quota waits for none of its subscription, and holds up none', async () => {
    await using billing = await openBilling(engine)
    const { core, database } = billing
    const id = await sell(core, { api_calls: { limit: 10 } })
    await core.usage.record({ subscriptionId: id, quota: 'api_calls', units: 10, key: 'a' })
    await core.subscriptions.cancel(id, { at: 'now' })
    const taken = async () => {
      const asked = { limit: 10, token: newUuid(), alone: false, listeners: [] }
      const leases = await takeRows(database.db, outboxEvents, asked)
      assert.deepEqual(await finishRows(database.db, outboxEvents, { leases }), [])
      return leases.map(({ type }) => type).toSorted((a, b) => (a < b ? -1 : 1))
    }
    assert.deepEqual(await taken(), ['SubscriptionRenewed', 'UsageLimitReached'])
    assert.deepEqual(await taken(), ['SubscriptionCancelled'])
    assert.deepEqual(await taken(), [])
  })

  test('usage is recorded while a listener of the subscription’s payment holds its row', async () => {
    await using billing = await openBilling(engine)
    const { core, database } = billing
    const id = await sell(core, { api_calls: { limit: 10 } })
    const held = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const holding = database.transaction(async ({ db }) => {
      await sql`select from billing.subscriptions where id = ${id}::uuid for update`.execute(db)
      locked.resolve()
      await held.promise
    })
    await locked.promise
    const recorded = await core.usage.record({ subscriptionId: id, quota: 'api_calls', key: 'a' })
    assert.equal(recorded.result, 'counted')
    await endWindowIn(database, id, 0)
    await sql`update billing.usage_counters set every_unit = 'day', every_count = 1`.execute(
      database.db,
    )
    // Also where its window moves, and its limit is reached.
    const input = { subscriptionId: id, quota: 'api_calls', units: 10, key: newUuid() }
    assert.deepEqual(
      { ...(await core.usage.record(input)) },
      {
        result: 'counted',
        used: 10n,
        limit: 10n,
        left: 0n,
      },
    )
    held.resolve()
    await holding
  })

  test('usage.get looks into one index, once; what a window hangs on is read only where it is over', async () => {
    await using billing = await openBilling(engine)
    const { core, database } = billing
    const id = await sell(core, { api_calls: { limit: 10, every: 'day' } })
    await sql`insert into billing.usage_counters (subscription_id, quota, anchor_at, time_zone,
        percents, event_number, look_at)
      select gen_random_uuid(), 'api_calls', now(), 'UTC', '{100}', 0, now()
      from generate_series(1, 5000)`.execute(database.db)
    await sql`analyze billing.usage_counters`.execute(database.db)
    const statements: string[] = []
    const client = await database.pool.connect()
    const send = client.query.bind(client) as (...args: unknown[]) => unknown
    client.query = ((...args: unknown[]) => {
      if (typeof args[0] === 'string') statements.push(args[0])
      return send(...args)
    }) as typeof client.query
    client.release()
    // The same connection is given out again.
    assert.equal((await core.usage.get(id, 'api_calls'))?.used, 0n)
    const [time = '', read = '', ...others] = statements
    assert.match(time, /select statement_timestamp\(\)/)
    assert.match(read, /quittance:read-counter\b/)
    assert.deepEqual(others, [])
    const planOf = async () => {
      const now = new Date()
      const values = Array.from(
        { length: read.match(/\$\d+/g)?.length ?? 0 },
        () => now,
      ) as unknown[]
      values.splice(-2, 2, id, 'api_calls')
      const { rows } = await database.pool.query<{ 'QUERY PLAN': string }>(
        `explain (analyze, costs off, timing off, summary off) ${read.replace(/\/\*.*?\*\//, '')}`,
        values,
      )
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    }
    const plan = await planOf()
    const scans = plan.split('\n').filter((line) => /scan/i.test(line))
    const taken = scans.filter((line) => !line.includes('never executed'))
    assert.equal(taken.length, 1, plan)
    assert.match(taken[0] ?? '', /Index Scan using usage_counters_pkey/)
    assert.ok(scans.length > 1, plan)
    await endWindowIn(database, id, 0)
    assert.doesNotMatch(await planOf(), /subscriptions_pkey.*never executed/)
  })
})
