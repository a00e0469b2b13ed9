import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import { forEachDatabase, onPostgres } from '../support/databases.ts'
import {
  createOverHttp,
  deploy,
  finished,
  makeTable,
  postFake,
  type Deployment,
} from '../support/deployment.ts'
import { until } from '../support/billing.ts'
import { startService, startWorker } from '../support/process.ts'

/** What must hold after every fault. */
async function checkInvariants(database: Database, accepted: ReadonlyMap<string, number>) {
  const ids = [...accepted.keys()]
  const { rows: calls } = await sql<{ id: string; calls: bigint }>`
    select payload->>'payment_id' as id, count(*) as calls from billing.webhook_calls group by 1`.execute(
    database.db,
  )
  const stored = new Map(calls.map((row) => [row.id, Number(row.calls)]))
  for (const [id, answers] of accepted) {
    assert.ok((stored.get(id) ?? 0) >= answers, `every 200 has its call: ${id}`)
  }
  const { rows: states } = await sql<{ state: string }>`
    select distinct state from billing.webhook_calls`.execute(database.db)
  assert.deepEqual(states, [{ state: 'processed' }], 'every call ends processed')
  const { rows: told } = await sql<{ payment_id: string; times: bigint }>`
    select payment_id, count(*) as times from told where type = 'PaymentSucceeded' group by 1`.execute(
    database.db,
  )
  const times = new Map(told.map((row) => [row.payment_id, Number(row.times)]))
  assert.deepEqual(
    ids.filter((id) => times.get(id) !== 1),
    [],
    'no event twice, none missing',
  )
  const { rows: odd } = await sql`
    select p.id from billing.payments p
    left join billing.events e on e.payment_id = p.id and e.type = 'PaymentSucceeded'
    left join told t on t.payment_id = p.id
    where (p.status = 'paid') <> (e.id is not null) or (e.id is null) <> (t.payment_id is null)`.execute(
    database.db,
  )
  assert.deepEqual(odd, [], 'a payment is paid exactly if it has its event and its listener’s row')
}

onPostgres((engine) => {
  let deployment: Deployment
  let database: Database
  before(async () => {
    deployment = await deploy(engine)
    database = await deployment.connect()
    await makeTable(database)
  })
  after(async () => {
    await database.close()
    await deployment.remove()
  })

  test('200 identical paid callbacks in parallel, 4 worker processes: one PaymentSucceeded', async () => {
    const service = await startService({ ...deployment, args: ['--no-worker'] })
    const workers = await Promise.all([1, 2, 3, 4].map(() => startWorker(deployment)))
    const id = randomUUID()
    assert.ok(await createOverHttp(service.url, id))
    const statuses = await Promise.all(
      Array.from({ length: 200 }, () => postFake(service.url, id, 'success')),
    )
    assert.deepEqual([...new Set(statuses)], [200])
    await finished(database)
    await checkInvariants(database, new Map([[id, 200]]))
    const { rows } = await sql<{ transitions: bigint }>`
      select count(*) as transitions from billing.payment_transitions
      where payment_id = ${id}::uuid`.execute(database.db)
    assert.deepEqual(rows, [{ transitions: 1n }])
    for (const ended of await Promise.all([service, ...workers].map((one) => one.stop()))) {
      assert.equal(ended.code, 0)
    }
  })

  test('a worker killed while it holds calls: another takes them within 60 s', async () => {
    const service = await startService({ ...deployment, args: ['--no-worker'] })
    const doomed = await startWorker({
      ...deployment,
      env: { ...deployment.env },
    })
    const blocker = await database.pool.connect()
    const id = randomUUID()
    await createOverHttp(service.url, id)
    // Holds the payment's row, so that the worker stands in the middle of its transaction.
    await blocker.query('begin')
    await blocker.query('select 1 from billing.payments where id = $1 for update', [id])
    await postFake(service.url, id, 'success')
    await until(
      async () => {
        const { rows } = await sql`
          select 1 from billing.webhook_calls where state = 'processing'`.execute(database.db)
        return rows.length === 1
      },
      { what: 'the worker holds the call' },
    )
    await doomed.kill()
    await blocker.query('rollback')
    blocker.release()
    const began = performance.now()
    const heir = await startWorker(deployment)
    await finished(database)
    assert.ok(performance.now() - began < 60_000)
    await checkInvariants(database, new Map([[id, 1]]))
    const { rows } = await sql<{ leases_lost: number }>`
      select leases_lost from billing.webhook_calls
      where payload->>'payment_id' = ${id}`.execute(database.db)
    assert.deepEqual(rows, [{ leases_lost: 1 }])
    await Promise.all([service.stop(), heir.stop()])
  })
})

forEachDatabase((engine) => {
  let deployment: Deployment
  before(async () => {
    deployment = await deploy(engine)
  })
  after(() => deployment.remove())

  // 51 starts: on a busy machine they take longer than a test may otherwise.
  const timeout = 1_200_000
  test(
    'kill -9 of the service at 50 random moments under load loses and doubles nothing',
    { timeout },
    async () => {
      const first = await startService(deployment)
      const before = await deployment.connect()
      await makeTable(before)
      await before.close()
      await first.stop()

      const accepted = new Map<string, number>()
      for (let round = 0; round < 50; round += 1) {
        const service = await startService(deployment)
        let alive = true
        const senders = Array.from({ length: 8 }, async () => {
          // A refused or reset connection is what the kill looks like from outside.
          while (alive) await payOnce(service.url, accepted).catch(() => {})
        })
        try {
          await killingMoment(round, accepted)
        } finally {
          await service.kill()
          alive = false
        }
        await Promise.all(senders)
      }

      const last = await startService(deployment)
      const database = await deployment.connect()
      await finished(database, 180_000)
      await checkInvariants(database, accepted)
      assert.ok(accepted.size > 100, `there was load: ${accepted.size} payments`)
      await database.close()
      assert.equal((await last.stop()).code, 0)
    },
  )
})

/**
 * By turns a random moment after the start, early ones included, and one after a random number of
 * payments: there is load on a slow machine too.
 */
async function killingMoment(round: number, accepted: ReadonlyMap<string, number>): Promise<void> {
  if (round % 2 === 0) {
    await pause(20 + Math.random() * 400)
    return
  }
  const enough = accepted.size + 5 + Math.random() * 10
  await until(() => accepted.size >= enough, { what: 'there is load', limitMs: 60_000 })
  await pause(Math.random() * 50)
}

/** Creates a payment and pays it twice, counting the answers that were 200. */
async function payOnce(url: string, accepted: Map<string, number>): Promise<void> {
  const id = randomUUID()
  if (!(await createOverHttp(url, id))) return
  for (let delivery = 0; delivery < 2; delivery += 1) {
    if ((await postFake(url, id, 'success')) === 200) {
      accepted.set(id, (accepted.get(id) ?? 0) + 1)
    }
  }
}
