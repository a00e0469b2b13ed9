import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import { mostCounted } from '../../src/database/count-up-to.ts'
import { readInOrder } from '../../src/database/read-in-order.ts'
import type { Tables } from '../../src/database/tables.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { runBatch } from '../../src/upkeep/continue-runs.ts'
import { failedCalls, failedQueued, waitingCalls } from '../../src/health/sources.ts'
import { readReadiness } from '../../src/health/readiness.ts'
import { takeRun } from '../../src/upkeep/leased-runs.ts'
import { newPayment, openBilling, type TestBilling } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { seed } from '../support/seeding.ts'
import { assertReadsOf, type MostRows } from './assert-reads.ts'

const many = 30_000
const big = [
  'webhook_calls',
  'payments',
  'deliveries',
  'deferred_events',
  'forwards',
  'forward_attempts',
]

/**
 * Thousands of calls wait and have failed since a minute, and the server has not looked at the tables
 * since: it takes them for small, and what is sought in them for rare.
 */
onPostgres((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine)
    const { id } = await newPayment(billing.core, { checkout: false })
    await seed(billing.url, (database) => write(database, id))
  })
  after(() => billing.close())

  const write = (database: Database, id: string) =>
    database.transaction(async ({ db }) => {
      const run = (statement: ReturnType<typeof sql>) => statement.execute(db)
      await run(sql`set local session_replication_role = replica`)
      for (const table of big) {
        await run(
          sql`alter table ${sql.table(`billing.${table}`)} set (autovacuum_enabled = false)`,
        )
      }
      const numbers = sql`generate_series(1, ${many}::int) as number`
      const at = sql`now() - interval '2 h' + number * interval '1 ms'`
      await run(sql`insert into billing.webhook_calls (id, gateway, queue, url, headers, kind, payload,
          state, exception, next_attempt_at, received_at, processed_at)
        select gen_random_uuid(), 'fake', 'default', '/', '{}', 'json', '{}', state,
          case state when 'failed' then 'in listener mail: Error: no mail' end, ${at}, ${at}, ${at}
        from ${numbers}, (values ('pending'), ('failed')) as states (state)`)
      await run(sql`insert into billing.payments (id, gateway, status, amount, currency, payable_type,
          payable_id, checkout, next_poll_at, created_at, updated_at)
        select gen_random_uuid(), 'fake', 'pending', amount, currency, payable_type, payable_id,
          'unknown', ${at}, ${at}, ${at}
        from ${numbers}, billing.payments where id = ${id}`)
      await run(sql`insert into billing.deliveries (id, event_id, listener, queue, state, exception,
          next_attempt_at, created_at, processed_at)
        select gen_random_uuid(), gen_random_uuid(), 'mail', 'default', state,
          case state when 'failed' then 'Error: no mail' end, ${at}, ${at}, ${at}
        from ${numbers}, (values ('pending'), ('failed')) as states (state)`)
      await run(sql`insert into billing.deferred_events (id, dedup_key, type, cause, queue, state,
          exception, subscription_id, event_number, next_attempt_at, created_at, processed_at)
        select gen_random_uuid(), 'renewed:' || number, 'SubscriptionRenewed', 'service', 'default',
          'failed', 'Error: no mail', md5((number / 2)::text)::uuid, number, ${at}, ${at}, ${at}
        from ${numbers}`)
      await run(sql`insert into billing.forwards (endpoint_id, event_id, position, state, cause,
          attempts, updated_at)
        select '0190a5e2-6b1c-7000-8000-000000000001', md5(number::text)::uuid, number, 'failed', 'retry',
          1, ${at}
        from ${numbers}`)
      await run(sql`insert into billing.forward_attempts (id, endpoint_id, event_id, attempt,
          result, duration_ms)
        select gen_random_uuid(), '0190a5e2-6b1c-7000-8000-000000000001', md5(number::text)::uuid, 1,
          'timeout', 9
        from ${numbers}`)
    })

  const assertReads = (most: MostRows, work: () => Promise<unknown>) =>
    assertReadsOf(billing.database, { big, most }, work)

  test('what rules plans out ends with the look', async () => {
    const { database } = billing
    const settings = ['enable_bitmapscan', 'enable_seqscan', 'jit']
    const read = async (db: Kysely<Tables>) => {
      const { rows } = await sql<{ setting: string }>`
        select setting from pg_settings where name = any(${settings}::text[])`.execute(db)
      return rows.map(({ setting }) => setting)
    }
    const usual = await read(database.db)
    assert.ok(usual.includes('on'))
    assert.deepEqual(await readInOrder(database, read), ['off', 'off', 'off'])
    assert.deepEqual(await read(database.db), usual)
  })

  test('monitoring counts no further than 10,001 of each kind', async () => {
    const most = {
      any: 100,
      webhook_calls: 20_100,
      deliveries: 20_100,
      deferred_events: 10_100,
      payments: 20_100,
    }
    await assertReads(most, async () => {
      const { text } = await billing.core.metrics()
      assert.match(text, new RegExp(`^quittance_calls\\{state="pending"\\} ${mostCounted}$`, 'm'))
    })
  })

  test('a list of what waits looks for 2,001, and shows the newest', async () => {
    let shown: readonly string[] = []
    await assertReads({ any: 5_000 }, async () => {
      const { data } = await billing.core.calls.list({ state: 'pending', limit: 50 })
      shown = data.map(({ id }) => id)
    })
    const { rows } = await sql<{ id: string }>`select id from billing.webhook_calls
      where state = 'pending' order by id desc limit 50`.execute(billing.database.db)
    assert.deepEqual(
      shown,
      rows.map(({ id }) => id),
    )
  })

  test('so do the overview, readiness and the diagnosis', async () => {
    const most = {
      any: 100,
      webhook_calls: 30_200,
      deliveries: 30_200,
      deferred_events: 30_200,
      payments: 40_100,
      forwards: 10_300,
    }
    await assertReads(most, async () => {
      const { backlog } = await billing.core.inspect.overview()
      assert.equal(backlog.pendingCalls, mostCounted)
    })
    const { database } = billing
    const readiness = { payments: 1, webhook_calls: 10_010 }
    await assertReads(readiness, () => readReadiness(database, ['fake']))
    await assertReads({ webhook_calls: 10_010 }, () => readInOrder(database, waitingCalls))
    await assertReads({ webhook_calls: 10_010 }, () => readInOrder(database, failedCalls))
    await assertReads({ deliveries: 10_010, deferred_events: 10_010 }, () =>
      readInOrder(database, failedQueued),
    )
  })

  test('what failed is grouped of the newest, and a run estimates and replays a part', async () => {
    const failed = { deliveries: 20_100, deferred_events: 20_100 }
    const most = { ...failed, webhook_calls: 20_100, forwards: 20_100 }
    await assertReads({ ...most, any: 100 }, async () => {
      const { counts } = await billing.core.inspect.failed()
      const { calls, deliveries, deferredEvents, forwards } = counts
      assert.deepEqual([calls, deliveries, deferredEvents, forwards], Array(4).fill(mostCounted))
    })
    const id = newUuid()
    await assertReads({ any: 10_100 }, async () => {
      const run = await billing.core.runs.start({ id, operator: 'ops' })
      assert.equal(run.estimateIsLeast, true)
    })
    const { database } = billing
    const lease = (await takeRun(database.db, newUuid())) ?? assert.fail()
    // The rows are read, changed and marked, each by its id.
    await assertReads({ any: 2_000 }, async () => {
      const batch = await runBatch(database, lease)
      assert.deepEqual(batch, { kind: 'requeued', count: 100, isLast: false })
    })
    await billing.core.runs.stop(id)
    await runBatch(database, lease)
  })

  test('a run of events of subscriptions reads those of the ones that it replays', async () => {
    const { database } = billing
    const run = { id: newUuid(), operator: 'ops', kind: 'deferred_event' } as const
    await billing.core.runs.start(run)
    const lease = (await takeRun(database.db, newUuid())) ?? assert.fail()
    // The rows are read, changed and marked, each by its id; those of no subscription are passed.
    await assertReads({ any: 4_000 }, async () => {
      const batch = await runBatch(database, lease)
      assert.ok(batch.kind === 'requeued' && batch.count > 20, batch.kind)
    })
  })
})
