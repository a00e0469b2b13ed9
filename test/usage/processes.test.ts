import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { suite, test } from 'node:test'
import { sql } from 'kysely'
import type { BillingCore } from '../../src/billing/types.ts'
import { coreOf } from '../../src/billing/create-core.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import { createRuntime } from '../../src/billing/runtime.ts'
import type { Database } from '../../src/database/connect.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { createUsageGathering } from '../../src/usage/gather-usage.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import { forEachDatabase, onPostgres, postgres, type TestEngine } from '../support/databases.ts'
import { migratedFolder } from '../support/embedded-template.ts'
import { startProcess } from '../support/process.ts'
import type { Recorded, Recording } from './counting-program.ts'
import { endWindowIn, keysOf, quotaEvents, sell } from './selling.ts'

const file = fileURLToPath(new URL('counting-program.ts', import.meta.url))

interface Shop extends AsyncDisposable {
  readonly core: BillingCore
  readonly database: Database
  /** What further processes open. */
  readonly shared: BillingOptions['database']
}

async function openShop(engine: TestEngine): Promise<Shop> {
  const place = await placeOf(engine)
  const runtime = createRuntime({ database: place.own })
  const core = coreOf(runtime)
  const { database } = await runtime.opened()
  const close = async () => {
    await core.close()
    await place.remove()
  }
  return { core, database, shared: place.shared, [Symbol.asyncDispose]: close }
}

async function placeOf(engine: TestEngine) {
  if (engine === postgres) {
    const { url = '', drop } = await postgres.create()
    return { own: { url }, shared: { url }, remove: drop }
  }
  const { dataDir, remove } = migratedFolder()
  const shared = { dataDir, attach: true }
  return { own: { dataDir }, shared, remove: async () => remove() }
}

async function run(recording: Partial<Recording>): Promise<Recorded | 'killed'> {
  const full = { prefix: 'k', count: 100, enforce: false, atOnce: 50, cut: 'none', ...recording }
  const env = { RECORDING: JSON.stringify(full) }
  const { signal, code, stdout, stderr } = await startProcess([], { file, env }).ended
  if (signal === 'SIGKILL') return 'killed'
  assert.equal(code, 0, stderr.join('\n'))
  return JSON.parse(stdout.at(-1) ?? '') as Recorded
}

function sum(all: readonly (Recorded | 'killed')[], result: string): number {
  return all.reduce((total, one) => total + (one === 'killed' ? 0 : (one[result] ?? 0)), 0)
}

async function usedOf({ core }: Shop, id: string): Promise<bigint | undefined> {
  return (await core.usage.get(id, 'api_calls'))?.used
}

forEachDatabase((engine) => {
  suite('processes that record usage', { concurrency: 1 }, () => {
    const each = engine === postgres ? 10_000 : 1_000

    test(`51: 4 processes x ${each} on one quota are counted exactly, and its limit fires once`, async () => {
      await using shop = await openShop(engine)
      const { core, database, shared } = shop
      const limit = each * 2 + 1
      const id = await sell(core, { api_calls: { limit, percents: [50, 100] } })
      const all = await Promise.all(
        ['a', 'b', 'c', 'd'].map((prefix) =>
          run({ database: shared, subscriptionId: id, prefix, count: each, atOnce: 200 }),
        ),
      )
      assert.equal(sum(all, 'counted'), each * 4)
      assert.equal(await usedOf(shop, id), BigInt(each * 4))
      assert.deepEqual(await keysOf(database, id), { keys: each * 4, units: each * 4 })
      assert.deepEqual(
        (await quotaEvents(database, id)).map((event) => event.replace(/\d+\//, '')),
        [`api_calls 50% ${limit}`, `api_calls 100% ${limit}`],
      )
    })

    test('52: of two processes, 50 records at the edge of a quota fit where 25 are left', async () => {
      await using shop = await openShop(engine)
      const { core, database, shared } = shop
      const id = await sell(core, { api_calls: { limit: 1_000 } })
      await core.usage.record({ subscriptionId: id, quota: 'api_calls', units: 975, key: 'before' })
      const edge = { database: shared, subscriptionId: id, enforce: true, count: 25, atOnce: 25 }
      const all = await Promise.all(['a', 'b'].map((prefix) => run({ ...edge, prefix })))
      assert.equal(sum(all, 'counted'), 25)
      assert.equal(sum(all, 'refused'), 25)
      assert.equal(await usedOf(shop, id), 1_000n)
      assert.deepEqual(await keysOf(database, id), { keys: 26, units: 1_000 })
      assert.deepEqual(await quotaEvents(database, id), ['api_calls 100% 1000/1000'])
    })

    test('killed in the middle of a flush, before its commit or after, it is repeated exactly', async () => {
      await using shop = await openShop(engine)
      const { core, database, shared } = shop
      const cuts = ['before:1', 'after:1', 'before:3', 'after:3'] as const
      const kill = async (cut: (typeof cuts)[number]) => {
        const id = await sell(core, { api_calls: { limit: 150 } })
        const recording = { database: shared, subscriptionId: id, count: 200, enforce: true }
        assert.equal(await run({ ...recording, cut }), 'killed')
        const committed = Number(await usedOf(shop, id))
        const repeated = [await run(recording)]
        assert.equal(sum(repeated, 'duplicate'), committed, cut)
        assert.equal(sum(repeated, 'counted'), 150 - committed, cut)
        assert.equal(sum(repeated, 'refused'), 50, cut)
        assert.equal(await usedOf(shop, id), 150n)
        assert.deepEqual(await keysOf(database, id), { keys: 150, units: 150 })
        assert.deepEqual(await quotaEvents(database, id), ['api_calls 100% 150/150'])
      }
      await Promise.all(cuts.map(kill))
    })

    test('54: while its window ends, two processes lose no record, and count each in one window', async () => {
      await using shop = await openShop(engine)
      const { core, database, shared } = shop
      const id = await sell(core, { api_calls: { limit: null, every: 'day' } })
      const racing = { database: shared, subscriptionId: id, milliseconds: 3_000, atOnce: 20 }
      const running = Promise.all(['a', 'b'].map((prefix) => run({ ...racing, prefix })))
      // Some have been counted by the time it ends.
      while (Number(await usedOf(shop, id)) === 0) await new Promise((done) => setTimeout(done, 20))
      await endWindowIn(database, id, 1_000)
      const counted = sum(await running, 'counted')
      assert.deepEqual(await keysOf(database, id), { keys: counted, units: counted })
      const { rows } = await sql<{ used: number; of_window: number; before: number }>`
        select counter.used::int as used,
          count(*) filter (where counted_at >= window_starts_at)::int as of_window,
          count(*) filter (where counted_at < window_starts_at)::int as before
        from billing.usage_counters as counter join billing.usage_keys using (subscription_id, quota)
        where subscription_id = ${id}::uuid group by counter.used`.execute(database.db)
      const [found] = rows
      assert.ok(found && found.before > 0 && found.used > 0, JSON.stringify(found))
      assert.equal(found.used, found.of_window)
      assert.deepEqual(await quotaEvents(database, id), ['api_calls reset null'])
    })
  })
})

onPostgres((engine) => {
  test('a flush whose answer was lost is repeated, and knows what it has counted', async () => {
    await using shop = await openShop(engine)
    const { core, shared } = shop
    const id = await sell(core, { api_calls: { limit: 10 } })
    const proxy = await startCutProxy(shared?.url ?? '')
    const runtime = createRuntime({ database: { url: proxy.url } })
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
