import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { rehearse } from '../../src/testing/index.ts'
import { createUsageGathering } from '../../src/usage/gather-usage.ts'
import { openBilling, until } from '../support/billing.ts'
import { forEachDatabase, onPostgres } from '../support/databases.ts'
import { endWindowIn, keysOf, sell } from './selling.ts'

forEachDatabase((engine) => {
  test('keys are pruned once they are old, and then count again', async () => {
    await using billing = await openBilling(engine, { usage: { keepKeysDays: 2 } })
    const { core, database } = billing
    const id = await sell(core, { api_calls: { limit: null } })
    const record = (key: string) =>
      core.usage.record({ subscriptionId: id, quota: 'api_calls', key })
    await sql`insert into billing.usage_keys (subscription_id, quota, key, units, counted_at, written_by)
      select ${id}::uuid, 'api_calls', 'old ' || n, 1,
        statement_timestamp() - interval '2 days' - make_interval(secs => n), ${newUuid()}::uuid
      from generate_series(1, 12000) as n`.execute(database.db)
    await record('new')
    assert.equal((await record('old 7')).result, 'duplicate')
    await core.prune()
    assert.deepEqual(await keysOf(database, id), { keys: 1, units: 1 })
    assert.equal((await record('old 7')).result, 'counted')
    assert.equal((await record('new')).result, 'duplicate')
  })

  test('a process that works moves a window that is over, though nobody records, and it is heard', async () => {
    await using billing = await openBilling(engine)
    const { core, database } = billing
    const heard: string[] = []
    core.on('SubscriptionQuotaReset', 'hearReset', ({ quota, limit }) => {
      heard.push(`${quota} ${limit}`)
    })
    const id = await sell(core, { api_calls: { limit: 10, every: 'day' } })
    await core.usage.record({ subscriptionId: id, quota: 'api_calls', units: 4, key: 'a' })
    await core.work()
    await endWindowIn(database, id, 0)
    await until(() => heard.length > 0, { what: 'the new window is heard of', limitMs: 60_000 })
    assert.deepEqual(heard, ['api_calls 10'])
    const { rows } = await sql<{ used: number }>`
      select used::int from billing.usage_counters`.execute(database.db)
    assert.deepEqual(rows, [{ used: 0 }])
  })
})

onPostgres((engine) => {
  test('what waits for a database that does not answer is refused in time, and what is too much at once', async () => {
    await using billing = await openBilling(engine)
    const { core, database, runtime } = billing
    const id = await sell(core, { api_calls: { limit: null } })
    const { processing, queue } = await runtime.context()
    const options = { processing, queue, log: silentLog, deadline: 300, mostWaiting: 3 }
    const usage = createUsageGathering(options)
    const one = (key: string) => ({
      subscriptionId: id,
      quota: 'api_calls',
      units: 1n,
      key,
      enforce: false,
    })
    const locked = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const holding = database.transaction(async ({ db }) => {
      await sql`select from billing.usage_counters for update`.execute(db)
      locked.resolve()
      await held.promise
    })
    await locked.promise
    const unavailable = { code: 'usage_unavailable' }
    const waiting = [usage.record([one('a'), one('b')]), usage.record([one('c')])]
    await assert.rejects(usage.record([one('d')]), unavailable)
    for (const each of waiting) await assert.rejects(each, unavailable)
    held.resolve()
    await holding
    await usage.close()
    // Recorded again with the same keys: whatever became of them counts once.
    const again = await usage.record([one('a'), one('b'), one('c')])
    assert.equal(again.at(-1)?.result === 'unknown_quota', false)
    assert.deepEqual(await keysOf(database, id), { keys: 3, units: 3 })
    assert.equal((await core.usage.get(id, 'api_calls'))?.used, 3n)
    await usage.close()
  })
})

test('a rehearsal moves windows at their time, with its renewals', async () => {
  const heard: string[] = []
  await using rehearsal = await rehearse({
    listeners: {
      hear: {
        on: ['SubscriptionQuotaReset', 'UsageLimitReached'],
        run: ({ type, quota }) => void heard.push(`${quota} ${type}`),
      },
    },
  })
  const card = await rehearsal.saveCard()
  const { subscription } = await rehearsal.billing.subscriptions.create({
    gateway: 'fake',
    payable: { type: 'account', id: '7' },
    amount: 1999,
    currency: 'USD',
    every: 'month',
    paymentMethodId: card.id,
    quotas: { api_calls: { limit: 5 }, exports: { limit: 5, every: 'week' } },
  })
  const use = (quota: string) =>
    rehearsal.billing.usage.record({
      subscriptionId: subscription.id,
      quota,
      units: 5,
      key: newUuid(),
    })
  await use('api_calls')
  await rehearsal.advance('15 days')
  assert.deepEqual(heard, [
    'api_calls UsageLimitReached',
    'exports SubscriptionQuotaReset',
    'exports SubscriptionQuotaReset',
  ])
  // A month is over by then.
  await rehearsal.advance('20 days')
  const renewed = heard.filter((one) => one === 'api_calls SubscriptionQuotaReset')
  assert.equal(renewed.length, 1)
  assert.equal((await rehearsal.billing.usage.get(subscription.id, 'api_calls'))?.left, 5n)
})
