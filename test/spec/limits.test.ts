import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { builtin } from '../../src/gateways/builtin.ts'
import { days } from '../../src/kernel/duration.ts'
import { openBilling, until } from '../support/billing.ts'
import { embedded, onAnyDatabase, onBothDatabases, onPostgres } from '../support/databases.ts'
import { cameAt } from '../support/id-made-at.ts'
import { runHosted } from '../support/command-host.ts'
import { signingSecret } from '../support/stripe-callbacks.ts'
import { closing, startSpec, type SpecService } from './spec-service.ts'

const throwing = `
export default {
  listeners: { never: { on: 'PaymentFailed', run() { throw new Error('not today') } } },
}
`

/** A throttle as a user would write one, so small that a test meets it. */
const throttled = `
let taken = 0
const throttle = async (c, next) => {
  taken += 1
  if (taken > 5) return c.json({ message: 'too many requests' }, 429, { 'retry-after': '60' })
  await next()
}
export default { webhook: { middleware: [throttle] } }
`

onAnyDatabase((engine) => {
  let service: SpecService
  before(async () => {
    service = await startSpec(engine, { config: throwing })
  })
  after(() => service[Symbol.asyncDispose]())

  describe('Limits', () => {
    test('job attempts: 3; job backoff: 10 seconds, then 60 seconds', async () => {
      const payment = await service.create()
      await using database = await closing(service.connect())
      const query = async (text: string) =>
        (await database.pool.query<{ state: string; attempts: number; due: Date }>(text)).rows[0]
      let begun = Date.now()
      await service.fake(payment.id, 'failure')
      for (const [attempts, backoff] of [
        [1, 10_000],
        [2, 60_000],
        [3, undefined],
      ] as const) {
        const call = () =>
          query(`select state, attempts, next_attempt_at as due
            from billing.webhook_calls where state <> 'processing'`)
        await until(async () => (await call())?.attempts === attempts, {
          what: `attempt ${attempts} is over`,
        })
        const ended = Date.now()
        const { state, due } = (await call()) ?? {}
        assert.equal(state, backoff === undefined ? 'failed' : 'pending')
        if (backoff === undefined) break
        const failedAt = (due?.getTime() ?? 0) - backoff
        const shown = `attempt ${attempts} failed at ${failedAt}: ${begun} to ${ended}`
        assert.ok(failedAt >= begun - 1 && failedAt <= ended + 1, shown)
        begun = Date.now()
        await query(`update billing.webhook_calls set next_attempt_at = now()
          where state = 'pending'`)
      }
    })

    test('Alpha signature replay window: 5 minutes, to both sides', async () => {
      const body = '{"type":"a"}'
      const statusAt = async (offset: number) => {
        const t = Math.floor(Date.now() / 1000) + offset
        const v1 = createHmac('sha256', signingSecret).update(`${t}.${body}`).digest('hex')
        return (await service.post('alpha', body, { 'alpha-signature': `t=${t},v1=${v1}` })).status
      }
      // Exact to the second elsewhere, with a clock that is handed in; here the clock is the real one.
      for (const offset of [-280, 0, 280]) assert.equal(await statusAt(offset), 200, String(offset))
      for (const offset of [-320, 320, -3600]) {
        assert.equal(await statusAt(offset), 403, String(offset))
      }
    })

    test('stored call retention: 30 days by default, pruned daily', async () => {
      const payment = await service.create()
      await service.fake(payment.id, 'success')
      await service.lastCall()
      await using database = await closing(service.connect())
      const { rows } = await database.pool.query<{ ahead: number }>(
        `select extract(epoch from next_run_at - now())::float8 as ahead
         from billing.schedules where name = 'prune'`,
      )
      assert.ok(rows[0] && rows[0].ahead > 0 && rows[0].ahead <= 24 * 3600)
      const age = (received: string) =>
        database.pool.query(
          `update billing.webhook_calls set ${cameAt('now() - $1::interval')}
           where payload->>'payment_id' = $2`,
          [received, payment.id],
        )
      const isStored = async () => {
        const stored = await database.pool.query(
          `select 1 from billing.webhook_calls where payload->>'payment_id' = $1`,
          [payment.id],
        )
        return stored.rows.length === 1
      }
      const runNow = async () => {
        const { code, stderr } = await runHosted(['prune'], { cwd: service.cwd, env: service.env })
        assert.equal(code, 0, stderr.join('\n'))
      }
      await age('29 days 23 hours')
      await runNow()
      assert.ok(await isStored(), 'younger than 30 days')
      await age('30 days 1 hour')
      await runNow()
      assert.equal(await isStored(), false)
      assert.equal((await service.payment(payment.id)).events.length, 1, 'the event stays')
    })

    test('route throttling: none by default', async () => {
      const statuses = await Promise.all(
        Array.from({ length: 200 }, async () => (await service.post('stripe', '{}')).status),
      )
      assert.deepEqual([...new Set(statuses)], [403])
    })
  })
})

onPostgres((engine) => {
  describe('Limits', () => {
    test('route throttling: webhook.middleware is a list that runs for the webhook route alone', async () => {
      await using service = await startSpec(engine, { config: throttled })
      const statuses: number[] = []
      for (let sent = 0; sent < 8; sent += 1) {
        statuses.push((await service.post('stripe', '{}')).status)
      }
      assert.deepEqual(statuses, [403, 403, 403, 403, 403, 429, 429, 429])
      const refusals = await service.post('fake', '{}')
      assert.equal(refusals.status, 429)
      assert.deepEqual(refusals.body, { message: 'too many requests' })
      assert.equal(refusals.headers.get('retry-after'), '60')
      // Neither the API nor health pass it; nor does what is no POST.
      await service.create()
      assert.equal(await service.countCalls(), 0)
      assert.equal((await service.send('GET', '/healthz')).status, 200)
      assert.equal((await service.send('GET', '/billing/webhooks/fake')).status, 405)
    })
  })
})

test('longest gateway retry: every descriptor states its own, and the default retention exceeds it', () => {
  for (const { name, retryWindow } of builtin) {
    assert.ok(retryWindow >= 0 && retryWindow < days(30), name)
  }
})

onBothDatabases((engine) => {
  test('the listeners of a call have 20 seconds together; on the embedded database, one', async () => {
    await using billing = await openBilling(engine, { listenerBudgetMs: undefined })
    const { processing } = await billing.runtime.entitledContext()
    assert.equal(processing.listenerBudget, engine === embedded ? 1_000 : 20_000)
  })
})
