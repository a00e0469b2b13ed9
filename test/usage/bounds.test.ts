import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { sell } from './selling.ts'

onAnyDatabase((engine) => {
  describe('what usage may do to the database', () => {
    let billing: TestBilling
    before(async () => {
      billing = await openBilling(engine, {})
    })
    after(() => billing.close())

    test('one list may reach every per cent of hundreds of quotas', async () => {
      const ids = Array.from({ length: 400 }, newUuid)
      const { db } = billing.database
      await sql`insert into billing.usage_counters (subscription_id, quota, units_limit, anchor_at,
          time_zone, window_starts_at, window_ends_at, percents, event_number)
        select id, 'api_calls', 10, now(), 'UTC', now(), now() + interval '1 month',
          '{10,20,30,40,50,60,70,80,90,100}', 0
        from unnest(${ids}::uuid[]) as id`.execute(db)
      const results = await billing.core.usage.record(
        ids.map((subscriptionId) => ({ subscriptionId, quota: 'api_calls', units: 10, key: 'a' })),
      )
      assert.ok(results.every(({ result }) => result === 'counted'))
      const { rows } = await sql<{ count: number }>`select count(*)::int as count
        from billing.deferred_events where type = 'UsageLimitReached'`.execute(db)
      assert.deepEqual(rows, [{ count: 4_000 }])
    })

    test('a subscription has 50 quotas at most, however often it is given some', async () => {
      const { core } = billing
      const named = (from: number, count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, n) => [`q${from + n}`, { limit: 1 }]))
      const id = await sell(core, named(0, 50))
      await assert.rejects(core.subscriptions.change(id, { quotas: named(50, 1) }), {
        code: 'subscription_invalid',
        message: 'a subscription has at most 50 quotas: take some away, with null',
      })
      assert.equal((await core.usage.get(id)).length, 50)
      await core.subscriptions.change(id, { quotas: { q0: null, ...named(50, 1) } })
      assert.equal((await core.usage.get(id)).length, 50)
    })
  })
})
