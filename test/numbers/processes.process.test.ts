import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { onAnyDatabase, onPostgres } from '../support/databases.ts'
import {
  apiToken,
  deploy,
  deployOpen,
  finished,
  postFake,
  type Deployment,
  type OpenDeployment,
} from '../support/deployment.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import { freePort, runCommand, startService, startWorker } from '../support/process.ts'
import { until } from '../support/until.ts'
import { counted, readMetrics, valueOf, type Family } from './counting.ts'

async function scrape(url: string, token?: string): Promise<ReadonlyMap<string, Family>> {
  const answer = await fetch(`${url}/metrics`, token === undefined ? {} : bearer(token))
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  return readMetrics(await answer.text())
}

const bearer = (text: string) => ({ headers: { authorization: `Bearer ${text}` } })

const statusOf = async (url: string, init?: RequestInit) => {
  const answer = await fetch(`${url}/metrics`, init)
  await answer.arrayBuffer()
  return answer.status
}

onAnyDatabase((engine) => {
  let deployment: Deployment
  before(async () => {
    deployment = await deploy(engine)
  })
  after(() => deployment.remove())

  test('anybody on the machine reads the metrics in development; other methods are refused', async () => {
    const service = await startService(deployment)
    await postFake(service.url, randomUUID(), 'success')
    const families = await scrape(service.url)
    assert.equal(valueOf(families, 'quittance_database_up'), 1)
    assert.equal(
      valueOf(families, 'quittance_callbacks_total', { gateway: 'fake', answer: 'accepted' }),
      1,
    )
    assert.ok((valueOf(families, 'process_cpu_seconds_total') ?? 0) > 0)
    assert.equal(await statusOf(service.url, { method: 'POST' }), 405)
    await service.stop()
  })

  test('the port for operations has the metrics without a token, and the other port has none', async () => {
    const port = String(await freePort())
    const env = { ...deployment.env, BILLING_OPERATIONS_PORT: port }
    const service = await startService({ ...deployment, env })
    const operations = `http://127.0.0.1:${port}`
    assert.equal(valueOf(await scrape(operations), 'quittance_database_up'), 1)
    assert.equal((await fetch(`${operations}/readyz`)).status, 200)
    assert.equal((await fetch(`${operations}/billing/api/payments`)).status, 404)
    assert.equal(
      (await fetch(`${operations}/billing/webhooks/fake`, { method: 'POST' })).status,
      404,
    )
    assert.equal(await statusOf(service.url), 404)
    assert.equal((await service.stop()).code, 0)
  })
})

onPostgres((engine) => {
  let deployment: OpenDeployment
  before(async () => {
    deployment = await deployOpen(engine)
  })
  after(() => deployment.remove())

  test('in production the metrics need their token, which opens nothing else', async () => {
    const env = {
      ...deployment.env,
      NODE_ENV: 'production',
      HOST: '127.0.0.1',
      APP_URL: 'https://pay.example',
    }
    const token = 'token-of-the-metrics-0123456789'
    const args = { ...deployment, env: { ...env, BILLING_METRICS_TOKEN: token } }
    const service = await startService(args)
    assert.ok((await scrape(service.url, token)).has('quittance_calls'))
    assert.equal(await statusOf(service.url), 401)
    assert.equal(await statusOf(service.url, bearer('wrong')), 401)
    assert.equal(await statusOf(service.url, bearer(apiToken)), 401)
    const api = await fetch(`${service.url}/billing/api/payments`, bearer(token))
    assert.equal(api.status, 401)
    await service.stop()
    const without = await startService({ ...deployment, env })
    assert.equal(await statusOf(without.url), 404)
    assert.equal(await statusOf(without.url, bearer('')), 404)
    await without.stop()
  })

  test('where the port for operations is in use, nothing has begun, and the setting is named', async () => {
    const port = String(await freePort())
    const env = { ...deployment.env, BILLING_OPERATIONS_PORT: port }
    const worker = await startWorker({ ...deployment, env })
    const { code, stderr } = await runCommand(['serve'], {
      cwd: deployment.cwd,
      env: { ...env, PORT: '0', HOST: '127.0.0.1' },
    })
    assert.equal(code, 1)
    assert.match(stderr.join('\n'), new RegExp(`port ${port} is in use.*BILLING_OPERATIONS_PORT`))
    assert.equal((await worker.stop()).code, 0)
  })

  test('where the port of the service is in use, the port for operations does not keep it alive', async () => {
    const service = await startService(deployment)
    const env = {
      ...deployment.env,
      BILLING_OPERATIONS_PORT: String(await freePort()),
      HOST: '127.0.0.1',
      PORT: new URL(service.url).port,
    }
    const { code, stderr } = await runCommand(['serve'], { cwd: deployment.cwd, env })
    assert.equal(code, 1)
    assert.match(stderr.join('\n'), /is in use.*Set PORT /)
    await service.stop()
  })

  test('while the database hangs, the counters are answered within seconds', async () => {
    const port = String(await freePort())
    const proxy = await startCutProxy(deployment.env['DATABASE_URL'] ?? '')
    const env = { ...deployment.env, BILLING_OPERATIONS_PORT: port, DATABASE_URL: proxy.url }
    const service = await startService({ ...deployment, env })
    const operations = `http://127.0.0.1:${port}`
    await postFake(service.url, randomUUID(), 'success')
    const held = proxy.next(/enable_seqscan/, 'hold')
    const families = await scrape(operations)
    assert.equal(valueOf(families, 'quittance_database_up'), 0)
    assert.equal(families.get('quittance_calls')?.samples.length, 0)
    const labels = { gateway: 'fake', answer: 'accepted' }
    assert.equal(valueOf(families, 'quittance_callbacks_total', labels), 1)
    held.release()
    assert.equal((await service.stop()).code, 0)
    await proxy.close()
  })

  test('a worker has a port for operations, too', async () => {
    const port = String(await freePort())
    const env = { ...deployment.env, BILLING_OPERATIONS_PORT: port }
    const worker = await startWorker({ ...deployment, env })
    assert.equal(valueOf(await scrape(`http://127.0.0.1:${port}`), 'quittance_database_up'), 1)
    assert.equal((await worker.stop()).code, 0)
  })

  test('the supervisor of several processes answers with the sum of all', async () => {
    const port = String(await freePort())
    const env = { ...deployment.env, BILLING_OPERATIONS_PORT: port }
    const service = await startService({ ...deployment, env, args: ['--processes', '2'] })
    const operations = `http://127.0.0.1:${port}`
    const accepted = async () =>
      valueOf(await scrape(operations), 'quittance_callbacks_total', {
        gateway: 'fake',
        answer: 'accepted',
      })
    for (let sent = 0; sent < 40; sent += 1) {
      assert.equal(await postFake(service.url, randomUUID(), 'success'), 200)
    }
    assert.equal(await accepted(), 40)
    assert.equal(valueOf(await scrape(operations), 'quittance_database_up'), 1)
    assert.equal((await service.stop()).code, 0)
  })

  test('two intakes and a worker, one killed: what is counted is exact, but for what it had not written', async () => {
    const { database } = deployment
    await finished(database)
    const { 'fake accepted': had = 0 } = await counted(database, 'callbacks_total')
    const [one, doomed] = await Promise.all(
      [1, 2].map(() => startService({ ...deployment, args: ['--no-worker'] })),
    )
    assert.ok(one && doomed)
    const worker = await startWorker(deployment)
    const each = 5_000
    await Promise.all([sendMany(one.url, each), sendMany(doomed.url, each)])
    await finished(database)
    const accepted = async () => {
      const { 'fake accepted': now = 0 } = await counted(database, 'callbacks_total')
      return now - had
    }
    // What it counts after this was written is lost with it.
    await until(async () => (await accepted()) === 2 * each, { what: 'its counts are written' })
    await sendMany(doomed.url, 100)
    await doomed.kill()
    await one.stop()
    await finished(database)
    await worker.stop()
    const all = await accepted()
    assert.ok(all >= 2 * each && all <= 2 * each + 100, `${all}`)
    const { rows } = await database.pool.query<{ ended: string; counted: string }>(`
      select (select count(*) from billing.webhook_calls where state = 'ignored')::text as ended,
        (select sum(value) from billing.counts where metric = 'calls_finished_total'
          and span = 'minute' and label = 'ignored')::text as counted`)
    assert.equal(rows[0]?.counted, rows[0]?.ended)
  })
})

/** Callbacks of payments that do not exist, 50 at a time. */
async function sendMany(url: string, count: number): Promise<void> {
  let left = count
  const sender = async () => {
    while (left > 0) {
      left -= 1
      assert.equal(await postFake(url, randomUUID(), 'success'), 200)
    }
  }
  await Promise.all(Array.from({ length: 50 }, sender))
}
