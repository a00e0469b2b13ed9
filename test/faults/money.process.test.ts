import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import { startHutko } from '../providers/hutko.ts'
import type { ProviderStandIn } from '../providers/provider-stand-in.ts'
import { providerEnvironment } from '../money/provider-environment.ts'
import { onPostgres } from '../support/databases.ts'
import { assertPaidOnce, apiToken, deployOpen, type OpenDeployment } from '../support/deployment.ts'
import { until } from '../support/billing.ts'
import { startProcess, startService, type RunningService } from '../support/process.ts'

onPostgres((engine) => {
  let deployment: OpenDeployment
  let database: Database
  let provider: ProviderStandIn
  let options: { readonly cwd: string; readonly env: Record<string, string> }
  before(async () => {
    provider = await startHutko()
    deployment = await deployOpen(engine)
    database = deployment.database
    options = { cwd: deployment.cwd, env: { ...deployment.env, ...providerEnvironment(provider) } }
  })
  after(async () => {
    await deployment.remove()
    await provider.close()
  })

  const post = async (service: RunningService, path: string, body: object) => {
    const answer = await fetch(`${service.url}/billing/api${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    return { status: answer.status, text }
  }
  const createMany = async (service: RunningService, count: number) => {
    const ids = Array.from({ length: count }, () => randomUUID())
    for (const id of ids) {
      const payable = { type: 'order', id }
      const order = { id, gateway: 'hutko', amount: 15_075, currency: 'UAH', payable }
      const { status, text } = await post(service, '/payments', order)
      assert.equal(status, 201, text)
    }
    return ids
  }
  const makeDue = (ids: readonly string[], hours = 1) =>
    sql`update billing.payments set next_poll_at = clock_timestamp() - interval '1 second',
        handed_at = handed_at - make_interval(hours => ${hours}::int)
      where id = any(${[...ids]}::uuid[]) or parent_id = any(${[...ids]}::uuid[])`.execute(
      database.db,
    )
  const reconcile = () => startProcess(['reconcile', '--json'], options)

  test('reconcile killed at ten random moments: every lost payment is found, and dispatched once', async () => {
    const service = await startService(options)
    const ids = await createMany(service, 60)
    await service.stop()
    for (const id of ids) provider.pay(id)
    let amidWork = 0
    for (let round = 0; round < 10; round += 1) {
      await makeDue(ids)
      const enough = provider.asked.length + Math.random() * 10
      const run = reconcile()
      let isOver = false
      void run.ended.then(() => (isOver = true))
      // However long a start takes.
      await until(() => isOver || provider.asked.length > enough, { what: 'it asks' })
      await pause(Math.random() * 20)
      if (!isOver) amidWork += 1
      await run.kill()
    }
    assert.ok(amidWork > 0, 'no kill fell amid the work')
    await makeDue(ids)
    const { code, stdout } = await reconcile().ended
    assert.equal(code, 0, stdout.join('\n'))
    await assertPaidOnce(database, ids)
  })

  test('a service that comes back finds what was paid while it was away', async () => {
    const service = await startService(options)
    const ids = await createMany(service, 5)
    await service.kill()
    for (const id of ids) provider.pay(id)
    await makeDue(ids)
    await sql`update billing.schedules set next_run_at = clock_timestamp(), lease_until = null,
      lease_token = null where name = 'reconcile'`.execute(database.db)
    const again = await startService(options)
    await until(
      async () => {
        const { rows } = await sql`select 1 from billing.payments
          where id = any(${ids}::uuid[]) and status <> 'paid'`.execute(database.db)
        return rows.length === 0
      },
      { what: 'all are found paid' },
    )
    await assertPaidOnce(database, ids)
    await again.stop()
  })

  test('a service killed amid refunds: each is asked for once at most, and known in the end', async () => {
    let service = await startService(options)
    const ids = await createMany(service, 40)
    for (const id of ids) provider.pay(id)
    await makeDue(ids)
    await service.stop()
    assert.equal((await reconcile().ended).code, 0)
    service = await startService(options)
    provider.misbehave('refund', ...Array.from({ length: 40 }, () => 'late' as const))
    const count = () => provider.asked.filter(({ asking }) => asking === 'refund').length
    const before = count()
    const answers: Promise<{ status: number } | undefined>[] = []
    for (const id of ids) {
      if (count() - before >= 10) break
      answers.push(post(service, `/payments/${id}/refunds`, {}).catch(() => undefined))
      await pause(20)
    }
    await until(() => count() - before >= 10, { what: 'ten refunds are asked for' })
    await service.kill()
    const answered = (await Promise.all(answers)).filter((answer) => answer !== undefined)
    const asked = count() - before
    assert.ok(answered.length < asked, `${answered.length} of ${asked} were answered`)
    // A day later, whatever was sent is there to be seen.
    await makeDue(ids, 49)
    assert.equal((await reconcile().ended).code, 0)
    const { rows } = await sql<{ parent: string; status: string; events: number }>`
      select parent_id as parent, status, (select count(*)::int from billing.events
        where payment_id = refund.id and type = 'PaymentRefunded') as events
      from billing.payments as refund where parent_id = any(${ids}::uuid[])`.execute(database.db)
    for (const id of ids) {
      const made = provider.refunds(id).length
      const known = rows.filter(({ parent }) => parent === id)
      assert.ok(made <= 1 && known.length <= 1)
      assert.equal(known.filter(({ status }) => status === 'paid').length, made)
      assert.equal(known.filter(({ events }) => events === 1).length, made)
      assert.ok(known.every(({ status }) => status === 'paid' || status === 'failed'))
    }
  })
})
