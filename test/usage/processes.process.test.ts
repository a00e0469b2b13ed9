import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createRuntime } from '../../src/billing/runtime.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { createUsageGathering } from '../../src/usage/gather-usage.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import { onAnyDatabase, onPostgres, postgres } from '../support/databases.ts'
import { muchPatience } from '../support/patience.ts'
import { countsOf, openShop, recordAll, sum, usedOf, windowsOf } from './recording.ts'
import { keysOf, quotaEvents, sell } from './selling.ts'

onAnyDatabase((engine) => {
  suite('processes that record usage', { concurrency: 1 }, () => {
    const each = engine === postgres ? 10_000 : 1_000

    test(`51: 4 processes x ${each} on one quota are counted exactly, and its limit fires once`, async () => {
      await using shop = await openShop(engine)
      const { core, database, shared } = shop
      const limit = each * 2 + 1
      const id = await sell(core, { api_calls: { limit, percents: [50, 100] } })
      const all = await recordAll(
        ['a', 'b', 'c', 'd'].map((prefix) => ({
          database: shared,
          subscriptionId: id,
          prefix,
          count: each,
          atOnce: 200,
        })),
      )
      assert.equal(sum(all, 'counted'), each * 4)
      assert.deepEqual(windowsOf(all), [each * 4])
      assert.equal(await usedOf(shop, id), BigInt(each * 4))
      assert.deepEqual(await keysOf(database, id), { keys: each * 4, units: each * 4 })
      assert.deepEqual(
        (await quotaEvents(database, id)).map((event) => event.replace(/\d+\//, '')),
        [`api_calls 50% ${limit}`, `api_calls 100% ${limit}`],
      )
    })

    test('50: the same keys from two processes at once count once', async () => {
      await using shop = await openShop(engine)
      const { core, database, shared } = shop
      const id = await sell(core, { api_calls: { limit: 1_000, percents: [25, 50, 75] } })
      const same = { database: shared, subscriptionId: id, count: 500, atOnce: 10 }
      // In another order each: some flushes share keys, and each process is the first with some.
      const all = await recordAll([1, 3].map((step) => ({ ...same, step })))
      assert.ok(Math.min(...countsOf(all, 'counted')) > 0, JSON.stringify(all))
      assert.equal(sum(all, 'counted'), 500)
      assert.equal(sum(all, 'duplicate'), 500)
      assert.deepEqual(windowsOf(all), [500])
      assert.equal(await usedOf(shop, id), 500n)
      assert.deepEqual(await keysOf(database, id), { keys: 500, units: 500 })
      assert.deepEqual(
        (await quotaEvents(database, id)).map((event) => event.replace(/\d+\//, '')),
        ['api_calls 25% 1000', 'api_calls 50% 1000'],
      )
    })

    test('52: two processes share what is left of a quota, to the last unit, and its limit fires once', async () => {
      await using shop = await openShop(engine)
      const { core, database, shared } = shop
      const id = await sell(core, { api_calls: { limit: 1_000 } })
      await core.usage.record({ subscriptionId: id, quota: 'api_calls', units: 950, key: 'before' })
      // Either alone would take all that is left: a record a flush, so that they take turns.
      const edge = { database: shared, subscriptionId: id, enforce: true, count: 50, atOnce: 1 }
      const all = await recordAll(['a', 'b'].map((prefix) => ({ ...edge, prefix })))
      assert.ok(Math.min(...countsOf(all, 'counted')) > 0, JSON.stringify(all))
      assert.equal(sum(all, 'counted'), 50)
      assert.equal(sum(all, 'refused'), 50)
      assert.equal(await usedOf(shop, id), 1_000n)
      assert.deepEqual(await keysOf(database, id), { keys: 51, units: 1_000 })
      assert.deepEqual(await quotaEvents(database, id), ['api_calls 100% 1000/1000'])
    })

    test('killed in the middle of a flush, before its commit or after, it is repeated exactly', async () => {
      await using shop = await openShop(engine)
      const { core, database, shared } = shop
      const cuts = ['before:1', 'after:1', 'before:3', 'after:3'] as const
      const kill = async (cut: (typeof cuts)[number]) => {
        const id = await sell(core, { api_calls: { limit: 150 } })
        const recording = { database: shared, subscriptionId: id, count: 200, enforce: true }
        assert.deepEqual(await recordAll([{ ...recording, cut }]), ['killed'])
        const committed = Number(await usedOf(shop, id))
        const repeated = await recordAll([recording])
        assert.equal(sum(repeated, 'duplicate'), committed, cut)
        assert.equal(sum(repeated, 'counted'), 150 - committed, cut)
        assert.equal(sum(repeated, 'refused'), 50, cut)
        assert.equal(await usedOf(shop, id), 150n)
        assert.deepEqual(await keysOf(database, id), { keys: 150, units: 150 })
        assert.deepEqual(await quotaEvents(database, id), ['api_calls 100% 150/150'])
      }
      await Promise.all(cuts.map(kill))
    })
  })
})

onPostgres((engine) => {
  test('a flush whose answer was lost is repeated, and knows what it has counted', async () => {
    await using shop = await openShop(engine)
    const { core, shared } = shop
    const id = await sell(core, { api_calls: { limit: 10 } })
    const proxy = await startCutProxy(shared?.url ?? '')
    const runtime = createRuntime({ database: { url: proxy.url } }, { patience: muchPatience })
    try {
      const { processing, queue } = await runtime.context()
      const usage = createUsageGathering({ processing, queue, log: silentLog })
      const one = { subscriptionId: id, quota: 'api_calls', units: 4n, enforce: true }
      assert.equal((await usage.record([{ ...one, key: 'known' }]))[0]?.result, 'counted')
      for (const fault of ['cut_answer', 'cut_before'] as const) {
        const armed = proxy.next(/^commit/i, fault)
        const results = await usage.record([
          { ...one, key: 'known' },
          { ...one, key: fault, units: 3n },
          { ...one, key: newUuid(), units: 9n },
        ])
        await armed.struck
        assert.deepEqual(
          results.map(({ result }) => result),
          ['duplicate', 'counted', 'refused'],
          fault,
        )
      }
      assert.equal(await usedOf(shop, id), 10n)
      assert.deepEqual(await quotaEvents(shop.database, id), ['api_calls 100% 10/10'])
      await usage.close()
    } finally {
      await runtime.close()
      await proxy.close()
    }
  })
})
