import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { connect, type Database } from '../../src/database/connect.ts'
import { seconds } from '../../src/kernel/duration.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { until } from '../support/billing.ts'
import { startCutProxy, type CutProxy } from '../support/cut-proxy.ts'
import { onPostgres } from '../support/databases.ts'
import {
  apiToken,
  assertPaidOnce,
  createOverHttp,
  deployOpen,
  finished,
  postFake,
  postFakeOnce,
  type OpenDeployment,
} from '../support/deployment.ts'
import { startService } from '../support/process.ts'

/** A second or two, on a machine of any speed; but connections that are idle end by themselves after 30 s. */
const soon = seconds(25)
/** The connections that work shares. */
const poolSize = 10
const ofPayments = /^\s*select .* from "?billing"?\."?payments"?/s

async function ready(url: string): Promise<number> {
  const answer = await fetch(`${url}/readyz`)
  await answer.arrayBuffer()
  return answer.status
}

/** Reads, each on a connection of its own. */
async function list(url: string): Promise<readonly number[]> {
  const headers = { authorization: `Bearer ${apiToken}` }
  const answers = Array.from({ length: poolSize }, async () => {
    const answer = await fetch(`${url}/billing/api/payments`, { headers })
    await answer.arrayBuffer()
    return answer.status
  })
  return Promise.all(answers)
}

onPostgres((engine) => {
  let deployment: OpenDeployment
  let proxy: CutProxy
  let database: Database
  before(async () => {
    deployment = await deployOpen(engine)
    database = deployment.database
    proxy = await startCutProxy(deployment.env['DATABASE_URL'] ?? '')
  })
  after(async () => {
    await proxy.close()
    await deployment.remove()
  })

  test('a connection that is only read by ends by itself: nothing tells it of a failover', async () => {
    const target = { kind: 'postgres', url: deployment.env['DATABASE_URL'] ?? '' } as const
    const reading = connect({
      target,
      log: silentLog,
      poolSize: 1,
      applicationName: 'test',
      lifetime: 50,
    })
    const backend = async () => {
      const { rows } = await reading.pool.query<{ pid: number }>('select pg_backend_pid() as pid')
      return rows[0]?.pid
    }
    const first = await backend()
    await until(async () => (await backend()) !== first, { what: 'another connection' })
    await reading.close()
  })

  test('the name leads to a read-only server, then to the writer, and the connections live on: soon all calls are processed and /readyz is 200', async (t) => {
    const place = { ...deployment, env: { ...deployment.env, DATABASE_URL: proxy.url } }
    const service = await startService(place)
    const ids = Array.from({ length: poolSize }, () => randomUUID())
    for (const id of ids) assert.ok(await createOverHttp(service.url, id))

    proxy.failOver()
    await until(async () => (await ready(service.url)) === 503, { what: 'writes fail' })
    await service.line(/read-only transaction/)
    assert.equal(await postFakeOnce(service.url, ids[0] ?? '', 'success'), 503)
    const held = Array.from({ length: poolSize }, () => proxy.next(ofPayments, 'hold'))
    const lists = list(service.url)
    await Promise.all(held.map(({ struck }) => struck))
    assert.ok(proxy.readOnlyConnections() >= poolSize, 'no connection is left that could write')

    proxy.promote()
    for (const { release } of held) release()
    assert.deepEqual([...new Set(await lists)], [200], 'reading goes on')
    const promoted = performance.now()
    const left = () => soon - (performance.now() - promoted)
    const refused = () =>
      service.stderr.filter((line) => line.includes('storing calls failed')).length
    const before = refused()
    const statuses = await Promise.all(ids.map((id) => postFake(service.url, id, 'success')))
    assert.deepEqual([...new Set(statuses)], [200])
    assert.equal(refused(), before, 'the first callbacks are stored')
    await finished(database, left())
    await until(async () => (await ready(service.url)) === 200, {
      what: '/readyz is 200',
      limitMs: left(),
    })
    await until(() => proxy.readOnlyConnections() === 0, {
      what: 'no connection leads to the server that refuses writes',
      limitMs: left(),
    })
    t.diagnostic(`after ${Math.round(performance.now() - promoted)} ms`)
    await assertPaidOnce(database, ids)
    await service.stop()
  })
})
