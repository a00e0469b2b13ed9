import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import { providerEnvironment } from '../money/provider-environment.ts'
import { startStripe, type StripeStandIn } from '../providers/stripe.ts'
import { until } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import {
  assertPaidOnce,
  apiToken,
  deployOpen,
  finished,
  type OpenDeployment,
} from '../support/deployment.ts'
import { startProcess, startService, type RunningService } from '../support/process.ts'

const payments = 100
/** 200 events on 20 pages, whose reading a kill can fall between. */
const perPage = 10
const kills = 10

onPostgres((engine) => {
  let deployment: OpenDeployment
  let database: Database
  let provider: StripeStandIn
  let options: { readonly cwd: string; readonly env: Record<string, string> }
  before(async () => {
    provider = await startStripe({ mostPerPage: perPage })
    deployment = await deployOpen(engine)
    database = deployment.database
    options = { cwd: deployment.cwd, env: { ...deployment.env, ...providerEnvironment(provider) } }
  })
  after(async () => {
    await deployment.remove()
    await provider.close()
  })

  const createMany = async (service: RunningService) => {
    const ids = Array.from({ length: payments }, () => randomUUID())
    for (const id of ids) {
      const payable = { type: 'order', id }
      const answer = await fetch(`${service.url}/billing/api/payments`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ id, gateway: 'stripe', amount: 15_075, currency: 'UAH', payable }),
      })
      assert.equal(answer.status, 201, await answer.text())
    }
    return ids
  }
  const backfill = () =>
    startProcess(['backfill', '--gateway', 'stripe', '--since', '1h', '--json'], options)
  const pagesAsked = () => provider.asked.filter(({ asking }) => asking === 'events').length
  const storedCalls = async () => {
    const { rows } = await sql<{ calls: number; events: number }>`
      select count(*)::int as calls, count(distinct payload->>'id')::int as events
      from billing.webhook_calls`.execute(database.db)
    return rows[0] ?? { calls: 0, events: 0 }
  }

  test('backfill killed at ten random moments: nothing is stored twice, nothing is forgotten', async () => {
    const service = await startService(options)
    const ids = await createMany(service)
    await service.stop()
    for (const id of ids) provider.pay(id)
    const told = provider.events.length
    assert.equal(told, 2 * payments)
    const progress: number[] = []
    for (let round = 0; round < kills; round += 1) {
      const before = pagesAsked()
      // Each gets further than the one before; some die while they wait for a page.
      const page = before + 1 + Math.floor(Math.random() * 2 * (round + 1))
      if (round % 2 === 0) provider.misbehave('events', 'late')
      const run = backfill()
      let isOver = false
      void run.ended.then(() => (isOver = true))
      await until(() => isOver || pagesAsked() >= page, { what: `page ${page} is asked for` })
      await pause(Math.random() * 20)
      await run.kill()
      progress.push((await storedCalls()).calls)
    }
    const between = progress.filter((calls) => calls > 0 && calls < told)
    assert.ok(between.length > 0, `no kill fell amid the work: ${progress.join(', ')}`)
    const again = await startService(options)
    const { code, stdout, stderr } = await backfill().ended
    assert.equal(code, 0, stderr.join('\n'))
    const result = JSON.parse(stdout.join('\n')) as { readonly listed: number }
    assert.equal(result.listed, told)
    assert.deepEqual(await storedCalls(), { calls: told, events: told })
    await finished(database)
    await assertPaidOnce(database, ids)
    await again.stop()
  })
})
