import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import { onAnyDatabase, onPostgres } from '../support/databases.ts'
import {
  createOverHttp,
  deliverPaid,
  deploy,
  deployOpen,
  finished,
  type Deployment,
  type OpenDeployment,
} from '../support/deployment.ts'
import { until } from '../support/billing.ts'
import { startService, startWorker } from '../support/process.ts'
import { checkInvariants, killAtRandom } from './kill-at-random.ts'

onPostgres((engine) => {
  let deployment: OpenDeployment
  let database: Database
  before(async () => {
    deployment = await deployOpen(engine)
    database = deployment.database
  })
  after(() => deployment.remove())

  test('200 identical paid callbacks in parallel, 4 worker processes: one PaymentSucceeded', async () => {
    const service = await startService({ ...deployment, args: ['--no-worker'] })
    const workers = await Promise.all([1, 2, 3, 4].map(() => startWorker(deployment)))
    const id = randomUUID()
    assert.ok(await createOverHttp(service.url, id))
    await Promise.all(Array.from({ length: 200 }, () => deliverPaid(service.url, id)))
    await finished(database)
    await checkInvariants(database, new Map([[id, 200]]))
    const { rows } = await sql<{ transitions: bigint }>`
      select count(*) as transitions from billing.payment_transitions
      where payment_id = ${id}::uuid`.execute(database.db)
    assert.deepEqual(rows, [{ transitions: 1n }])
    for (const ended of await Promise.all([service, ...workers].map((one) => one.stop()))) {
      assert.equal(
        ended.code,
        0,
        `${ended.signal}: ${[...ended.stdout, ...ended.stderr].join('\n')}`,
      )
    }
  })

  test('a worker killed while it holds calls: another takes them when its lease of 30 s has ended', async () => {
    const service = await startService({ ...deployment, args: ['--no-worker'] })
    const doomed = await startWorker(deployment)
    const blocker = await database.pool.connect()
    const id = randomUUID()
    await createOverHttp(service.url, id)
    // Holds the payment's row, so that the worker stands in the middle of its transaction.
    await blocker.query('begin')
    // However slow the machine is: usually the server would end it after 30 s.
    await blocker.query('set local idle_in_transaction_session_timeout = 0')
    await blocker.query('select 1 from billing.payments where id = $1 for update', [id])
    await deliverPaid(service.url, id)
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
    // However late it is by now: nobody may hold the call for longer.
    const { rows: leases } = await sql<{ isShort: boolean }>`
      select coalesce(bool_and(lease_until <= clock_timestamp() + interval '30 s'), true) as "isShort"
      from billing.webhook_calls where state = 'processing'`.execute(database.db)
    assert.deepEqual(leases, [{ isShort: true }])
    const heir = await startWorker(deployment)
    await finished(database)
    await checkInvariants(database, new Map([[id, 1]]))
    const { rows } = await sql<{ leases_lost: number }>`
      select leases_lost from billing.webhook_calls
      where payload->>'payment_id' = ${id}`.execute(database.db)
    assert.deepEqual(rows, [{ leases_lost: 1 }])
    await Promise.all([service.stop(), heir.stop()])
  })
})

onAnyDatabase((engine) => {
  let deployment: Deployment
  before(async () => {
    deployment = await deploy(engine)
  })
  after(() => deployment.remove())

  // `npm run test:long` does it more often.
  test('kill -9 of the service at 8 random moments under load loses and doubles nothing', () =>
    killAtRandom(deployment, 8))
})
