import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { createUsageGathering } from '../../src/usage/gather-usage.ts'
import { openBilling, until } from '../support/billing.ts'
import { onAnyDatabase, onPostgres } from '../support/databases.ts'
import { endWindowIn, keysOf, sell } from './selling.ts'

onAnyDatabase((engine) => {
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
    await until(() => heard.length > 0, { what: 'the new window is heard of' })
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
    const patient = createUsageGathering({ ...options, deadline: 60_000 })
    const again = await patient.record([one('a'), one('b'), one('c')])
    assert.equal(again.at(-1)?.result === 'unknown_quota', false)
    assert.deepEqual(await keysOf(database, id), { keys: 3, units: 3 })
    assert.equal((await core.usage.get(id, 'api_calls'))?.used, 3n)
    await patient.close()
  })
})
