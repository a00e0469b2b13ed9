import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import { lockCountersOf } from '../../src/database/usage-counters.ts'
import { moveDueWindows } from '../../src/usage/move-windows.ts'
import { until } from '../support/billing.ts'
import { onAnyDatabase, onPostgres } from '../support/databases.ts'
import { beside, openShop, startRecording, sum, usedOf, windowsOf, type Shop } from './recording.ts'
import { endPeriod, endWindowIn, keysOf, quotaEvents, sell } from './selling.ts'

/** Of windows that each kind of mover has moved. */
const leastMoved = 3
/** Where one kind is always too late. */
const mostWindows = 20

/** Who has moved the windows: `operator`, a flush; `service`, who looks for those that are over. */
async function moversOf({ database }: Shop, id: string): Promise<readonly string[]> {
  const { rows } = await sql<{ cause: string }>`
    select cause from billing.deferred_events
    where subscription_id = ${id}::uuid and type = 'SubscriptionQuotaReset'`.execute(database.db)
  return rows.map(({ cause }) => cause)
}

/** Ends windows one after another, each once something was counted in it. Returns how many. */
async function endWindows(shop: Shop, id: string, end: () => Promise<void>): Promise<number> {
  const isCounted = async () => Number(await usedOf(shop, id)) > 0
  for (let ended = 1; ; ended += 1) {
    await until(isCounted, { what: 'something is counted' })
    await end()
    let movers: readonly string[] = []
    const isMoved = async () => {
      movers = await moversOf(shop, id)
      return movers.length >= ended
    }
    await until(isMoved, { what: `window ${ended} is moved` })
    const byFlush = movers.filter((cause) => cause === 'operator').length
    const isRaced = Math.min(byFlush, ended - byFlush) >= leastMoved
    if (!isRaced && ended < mostWindows) continue
    await until(isCounted, { what: 'something is counted in the last window' })
    return ended
  }
}

interface Race {
  readonly id: string
  end(): Promise<void>
  /** What other processes, or other parts of this one, do all the time. */
  readonly work: readonly (() => Promise<unknown>)[]
}

/** Ends windows while two processes record: each record must count in one window, and only once. */
async function race(shop: Shop, { id, end, work }: Race): Promise<void> {
  const endless = { database: shop.shared, subscriptionId: id, count: null, atOnce: 4 }
  const recording = await startRecording(['a', 'b'].map((prefix) => ({ ...endless, prefix })))
  let ended = 0
  const racing = beside(work, async () => {
    ended = await endWindows(shop, id, end)
    recording.end()
    await recording.ended
  })
  const [all] = await Promise.all([recording.ended, racing])
  const counted = sum(all, 'counted')
  assert.deepEqual(await keysOf(shop.database, id), { keys: counted, units: counted })
  const windows = windowsOf(all)
  assert.equal(windows.length, ended + 1)
  assert.ok(windows.includes(Number(await usedOf(shop, id))), JSON.stringify(windows))
  assert.deepEqual(
    await quotaEvents(shop.database, id),
    Array.from({ length: ended }, () => 'api_calls reset null'),
  )
}

onAnyDatabase((engine) => {
  suite('54: windows that end while two processes record', { concurrency: 1 }, () => {
    test('whoever moves them, each record counts in the window it came in, and each begins once', async () => {
      await using shop = await openShop(engine)
      const { core, database, runtime } = shop
      const id = await sell(core, { api_calls: { limit: null, every: 'day' } })
      const context = await runtime.context()
      await race(shop, {
        id,
        end: () => endWindowIn(database, id, 50),
        work: [() => moveDueWindows(context)],
      })
      const { rows } = await sql<{ used: number; of_window: number; before: number }>`
        select counter.used::int as used,
          count(*) filter (where counted_at >= window_starts_at)::int as of_window,
          count(*) filter (where counted_at < window_starts_at)::int as before
        from billing.usage_counters as counter join billing.usage_keys using (subscription_id, quota)
        where subscription_id = ${id}::uuid group by counter.used`.execute(database.db)
      const [found] = rows
      assert.ok(found && found.before > 0 && found.used > 0, JSON.stringify(found))
      assert.equal(found.used, found.of_window)
    })

    test('a period that is granted meanwhile begins a window once, and takes no record away', async () => {
      await using shop = await openShop(engine)
      const { core, database, runtime } = shop
      const id = await sell(core, { api_calls: { limit: null } }, { every: 'day' })
      const context = await runtime.context()
      await race(shop, {
        id,
        end: () => endPeriod(database, id),
        work: [() => moveDueWindows(context), () => core.subscriptions.runDue()],
      })
    })
  })
})

onPostgres((engine) => {
  test('a record that waited while its window was moved is counted in the new one, at a time in it', async () => {
    await using shop = await openShop(engine)
    const { core, database, runtime } = shop
    const id = await sell(core, { api_calls: { limit: null, every: 'day' } })
    const { processing, queue } = await runtime.context()
    const record = (key: string) =>
      core.usage.record({ subscriptionId: id, quota: 'api_calls', key })
    await record('before')
    const waiting = await database.transaction(async (holding) => {
      await lockCountersOf(holding.db, id)
      const recorded = record('waited')
      const isWaiting = async () => {
        const { rows } = await sql`select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(database.db)
        return rows.length > 0
      }
      await until(isWaiting, { what: 'the record waits for its counter' })
      const held: Pick<Database, 'transaction'> = { transaction: (work) => work(holding) }
      await endWindowIn(held, id, 0)
      const context = { processing: { ...processing, database: held }, queue }
      assert.equal(await moveDueWindows(context), 1)
      return { recorded }
    })
    const { result, ...counted } = await waiting.recorded
    assert.deepEqual([result, 'used' in counted && counted.used], ['counted', 1n])
    const { rows } = await sql<{ key: string }>`
      select key from billing.usage_counters
      join billing.usage_keys using (subscription_id, quota)
      where subscription_id = ${id}::uuid and counted_at >= window_starts_at`.execute(database.db)
    assert.deepEqual(rows, [{ key: 'waited' }])
    assert.deepEqual(await quotaEvents(database, id), ['api_calls reset null'])
  })
})
