import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import type { MetricName } from '../../src/numbers/catalogue.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { sweepLeases } from '../../src/upkeep/sweep.ts'
import { opensAt, openScripted, pollReply, refusal, type Script } from '../money/scripted.ts'
import { onBothDatabases } from '../support/databases.ts'
import type { StatedBilling } from '../support/stated-billing.ts'
import { paid } from '../support/statements.ts'
import { until } from '../support/until.ts'
import { readMetrics, shown, valueOf } from './counting.ts'

onBothDatabases((engine) => {
  let billing: StatedBilling
  let script: Script
  let listener: () => void = () => {}
  let queued: () => void = () => {}
  let seen = new Map<MetricName, Record<string, number>>()

  before(async () => {
    const opened = await openScripted(engine, {
      listen: ({ core }) => {
        core.on(['PaymentSucceeded', 'PaymentFailed'], 'grant', () => listener())
        core.on('PaymentSucceeded', 'mail', () => queued(), { queued: true })
      },
    })
    billing = opened.billing
    script = opened.script
  })
  after(() => billing.close())
  beforeEach(() => {
    listener = () => {}
    queued = () => {}
    seen = new Map()
  })

  /** What was added since the last look of this test, or in all. */
  const since = (metric: MetricName): Record<string, number> => {
    const now = shown(billing.runtime.numbers, metric)
    const before = seen.get(metric) ?? {}
    seen.set(metric, now)
    const added = Object.entries(now).map(
      ([key, value]) => [key, value - (before[key] ?? 0)] as const,
    )
    return Object.fromEntries(added.filter(([, value]) => value > 0))
  }
  const begin = (...metrics: readonly MetricName[]) => metrics.forEach(since)

  test('a call that is processed, its event, and what it decided are counted once each', async () => {
    begin('calls_finished_total', 'calls_ignored_total', 'events_total', 'payments_decided_total')
    begin('call_delay_seconds')
    const begun = performance.now()
    const payment = await billing.createPaid()
    await billing.say(paid(payment))
    await billing.say({ ...paid(await billing.create()), status: 'failed' })
    await billing.say(paid({ ...payment, id: newUuid() }))
    assert.deepEqual(since('calls_finished_total'), {
      'stating processed': 3,
      'stating ignored': 1,
    })
    assert.deepEqual(since('calls_ignored_total'), { 'stating unknown_payment': 1 })
    assert.deepEqual(since('events_total'), { 'PaymentSucceeded call': 1, 'PaymentFailed call': 1 })
    assert.deepEqual(since('payments_decided_total'), {
      'stating paid call': 1,
      'stating failed call': 1,
    })
    const { 'stating sum': sum = 0, ...buckets } = since('call_delay_seconds')
    assert.equal(
      Object.values(buckets).reduce((a, b) => a + b),
      4,
    )
    // None of the four took longer than all of this.
    assert.ok(sum > 0 && sum < (4 * (performance.now() - begun)) / 1000, `${sum} s`)
  })

  test('what is known beforehand begins at zero: monitoring sees the first one grow', async () => {
    const { text } = await billing.core.metrics()
    const families = readMetrics(text)
    const labels = { gateway: 'stripe', status: 'paid', cause: 'poll' }
    assert.equal(valueOf(families, 'quittance_payments_decided_total', labels), 0)
    const failed = { gateway: 'stripe', state: 'failed' }
    assert.equal(valueOf(families, 'quittance_calls_finished_total', failed), 0)
    const lost = { gateway: 'stripe', kind: 'listener' }
    assert.equal(valueOf(families, 'quittance_attempts_failed_total', lost), 0)
  })

  test('a call that runs again is not a delay of days', async () => {
    const { core, database } = billing
    await billing.say(paid(await billing.create()))
    const [call] = (await core.calls.list({ limit: 1 })).data
    begin('call_delay_seconds', 'calls_finished_total')
    await core.calls.replay(call?.id ?? '')
    await until(
      async () => {
        const { rows } = await sql<{ state: string }>`select state from billing.webhook_calls
          where id = ${call?.id}::uuid`.execute(database.db)
        return rows[0]?.state === 'processed'
      },
      { what: 'it has run again' },
    )
    await until(async () => since('calls_finished_total')['stating processed'] === 1, {
      what: 'it is counted',
    })
    assert.deepEqual(since('call_delay_seconds'), {})
  })

  test('attempts that fail are counted by who failed; the last one ends the call', async () => {
    begin('attempts_failed_total', 'calls_finished_total', 'events_total')
    listener = () => {
      throw new Error('no grant')
    }
    const payment = await billing.create()
    await billing.deliver(paid(payment))
    const [call] = (await billing.core.calls.list({ limit: 1 })).data
    const id = call?.id ?? ''
    for (const attempt of [1, 2, 3]) {
      await billing.attempted({ id }, attempt)
      if (attempt < 3) {
        await sql`update billing.webhook_calls set next_attempt_at = clock_timestamp()
          where id = ${id}::uuid`.execute(billing.database.db)
      }
    }
    assert.deepEqual(since('attempts_failed_total'), { 'stating listener': 3 })
    assert.deepEqual(since('calls_finished_total'), { 'stating failed': 1 })
    assert.deepEqual(since('events_total'), {})
  })

  test('a worker that is lost is counted by the sweep', async () => {
    const { database, runtime } = billing
    const { numbers } = runtime
    begin('attempts_failed_total')
    await billing.say(paid(await billing.create()))
    await sql`update billing.webhook_calls set state = 'processing', leases_lost = 3,
        lease_token = gen_random_uuid(), lease_until = now() - interval '1 s'
      where id = (select max(id::text)::uuid from billing.webhook_calls)`.execute(database.db)
    await sweepLeases(database, { log: silentLog, newId: newUuid, numbers })
    await until(async () => shown(numbers, 'attempts_failed_total')[' worker_lost'] === 1, {
      what: 'it is counted, by us or by the service itself',
    })
  })

  test('deliveries to a queued listener are counted by how they end', async () => {
    const delivered = () =>
      shown(billing.runtime.numbers, 'deliveries_finished_total')['mail delivered'] ?? 0
    const before = delivered()
    await billing.createPaid()
    await until(async () => delivered() > before, { what: 'it is delivered, and counted' })
    begin('deliveries_finished_total')
    queued = () => {
      throw new Error('no mail')
    }
    const payment = await billing.createPaid()
    await until(
      async () => {
        await sql`update billing.deliveries set next_attempt_at = clock_timestamp()
          where state = 'pending'`.execute(billing.database.db)
        const { rows } = await sql<{ state: string }>`
          select delivery.state from billing.deliveries as delivery
          join billing.events as event on event.id = delivery.event_id
          where event.payment_id = ${payment.id}::uuid`.execute(billing.database.db)
        return rows[0]?.state === 'failed'
      },
      { what: 'it has failed for good' },
    )
    await until(
      async () => shown(billing.runtime.numbers, 'deliveries_finished_total')['mail failed'] === 1,
      { what: 'its end is counted' },
    )
  })

  test('what providers are asked is counted by the answer; a payment found by asking is told apart', async () => {
    const { core } = billing
    begin('provider_requests_total', 'payments_decided_total', 'events_total')
    script.open = opensAt('https://provider.example/pay')
    const payment = await core.payments.create({
      gateway: 'scripted',
      amount: 100,
      currency: 'USD',
      payable: { type: 'order', id: '1' },
    })
    script.poll = async () =>
      pollReply([{ type: 'payment', payment, status: 'paid', amount: 100n, currency: 'USD' }])
    await core.payments.poll(payment.id)
    script.refund = async () => {
      throw refusal()
    }
    await core.refunds.create(payment.id).catch(() => {})
    script.poll = async () => {
      throw new QuittanceError('provider_reply_invalid', 'rubbish')
    }
    await core.payments.poll(payment.id).catch(() => {})
    delete script.poll
    await core.payments.poll(payment.id).catch(() => {})
    assert.deepEqual(since('provider_requests_total'), {
      'scripted checkout answered': 1,
      'scripted poll answered': 1,
      'scripted poll invalid': 1,
      'scripted poll unreachable': 1,
      'scripted refund refused': 1,
    })
    assert.deepEqual(since('payments_decided_total'), { 'scripted paid poll': 1 })
    assert.deepEqual(since('events_total'), { 'PaymentSucceeded poll': 1 })
    const { text } = await core.metrics()
    const count = valueOf(readMetrics(text), 'quittance_provider_request_seconds_count', {
      gateway: 'scripted',
      operation: 'poll',
    })
    assert.equal(count, 3)
  })
})
