import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import { newPayment, openBilling, sendFake, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'

onAnyDatabase((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine)
  })
  after(() => billing.close())
  const run = (statement: ReturnType<typeof sql>) => statement.execute(billing.database.db)
  beforeEach(async () => {
    await run(sql`delete from billing.webhook_calls`)
    await run(sql`delete from billing.forwards`)
    await run(sql`delete from billing.forward_attempts`)
    await run(sql`delete from billing.endpoints`)
    await run(sql`delete from billing.events`)
    await run(sql`delete from billing.deliveries`)
    await run(sql`delete from billing.deferred_events`)
  })

  /** Calls that failed with these exceptions, a minute apart; the first is the newest. */
  const failedCalls = async (...exceptions: readonly (string | null)[]) => {
    const ids: string[] = []
    for (const [age, exception] of exceptions.entries()) {
      await sendFake(billing.core, newUuid(), 'success')
      const { rows } = await sql<{ id: string }>`
        update billing.webhook_calls set state = 'failed', exception = ${exception},
          received_at = now() - make_interval(mins => ${age})
        where state = 'pending' returning id`.execute(billing.database.db)
      ids.push(rows[0]?.id ?? '')
    }
    return ids
  }

  test('calls that failed are grouped by gateway, listener and the first line of the exception', async () => {
    const ids = await failedCalls(
      'in listener grant: Error: deadlock\n    at one',
      'Error: timeout',
      'in listener grant: Error: deadlock\n    at other',
      null,
    )
    const { counts, groups, truncated } = await billing.core.inspect.failed()
    assert.deepEqual(counts, { calls: 4, deliveries: 0, deferredEvents: 0, forwards: 0 })
    assert.equal(truncated, false)
    assert.deepEqual(
      groups.map((group) => group.kind === 'call' && [group.listener, group.error, group.count]),
      [
        ['grant', 'Error: deadlock', 2],
        [null, 'Error: timeout', 1],
        [null, '', 1],
      ],
    )
    assert.deepEqual(groups[0]?.ids, [ids[0], ids[2]])
  })

  test('a hostile exception is one line of 200 characters', async () => {
    await failedCalls(`${'\u{1f600}'.repeat(600)}\n${'x'.repeat(10_000)}`)
    const [group] = (await billing.core.inspect.failed()).groups
    assert.ok(group?.kind === 'call')
    assert.equal(group.error, '\u{1f600}'.repeat(100))
  })

  test('deliveries, deferred events and forwards that failed have groups of their own', async () => {
    const payment = await newPayment(billing.core)
    const event = newUuid()
    await run(sql`insert into billing.events (id, dedup_key, type, payment_id, source)
      values (${event}::uuid, 'a', 'PaymentSucceeded', ${payment.id}::uuid, 'call')`)
    await run(sql`insert into billing.deliveries (id, queue, state, event_id, listener, exception)
      values (${newUuid()}::uuid, 'default', 'failed', ${event}::uuid, 'mail', 'Error: no mail')`)
    await run(sql`insert into billing.deferred_events (id, queue, state, dedup_key, type, payment_id,
        cause, exception)
      values (${newUuid()}::uuid, 'default', 'failed', 'b', 'PaymentFailed', ${payment.id}::uuid, 'poll',
        'in listener crm: Error: no crm')`)
    const endpoint = newUuid()
    await run(sql`insert into billing.endpoints (id, name, source, url, payload, max_concurrency,
        timeout_seconds, position)
      values (${endpoint}::uuid, 'shop', 'config', 'https://shop.example', 'full', 1, 10, 0)`)
    await run(sql`insert into billing.forwards (endpoint_id, event_id, position, state, cause, attempts)
      values (${endpoint}::uuid, ${event}::uuid, 1, 'failed', 'retry', 10)`)
    const attempt = (status: number) =>
      run(sql`insert into billing.forward_attempts (id, endpoint_id, event_id, attempt, result, status,
          duration_ms)
        values (${newUuid()}::uuid, ${endpoint}::uuid, ${event}::uuid, 1, 'refused', ${status}, 1)`)
    await attempt(404)
    await attempt(500)
    const { counts, groups } = await billing.core.inspect.failed()
    assert.deepEqual(counts, { calls: 0, deliveries: 1, deferredEvents: 1, forwards: 1 })
    const of = (kind: string) => groups.find((group) => group.kind === kind)
    const delivery = of('delivery')
    assert.ok(delivery?.kind === 'delivery')
    assert.deepEqual([delivery.listener, delivery.error], ['mail', 'Error: no mail'])
    const deferred = of('deferred_event')
    assert.ok(deferred?.kind === 'deferred_event')
    assert.deepEqual(
      [deferred.eventType, deferred.listener, deferred.error],
      ['PaymentFailed', 'crm', 'Error: no crm'],
    )
    const forward = of('forward')
    assert.ok(forward?.kind === 'forward')
    assert.deepEqual(
      [forward.endpoint, forward.result, forward.status, forward.ids],
      ['shop', 'refused', 500, [event]],
    )
    const alone = await billing.core.inspect.failed({ kind: 'forward' })
    assert.deepEqual(alone.groups, [forward])
    const { problems } = await billing.core.inspect.overview()
    assert.deepEqual(
      problems.flatMap((one) => (one.kind === 'failed' ? [[one.what, one.mostly]] : [])),
      [
        ['delivery', 'mail'],
        ['deferred_event', 'crm'],
        ['forward', 'shop'],
      ],
    )
  })

  test('100 groups are shown, and that there are more is said', async () => {
    await failedCalls('x')
    await run(sql`insert into billing.webhook_calls (id, gateway, queue, url, headers, kind, payload,
        state, exception)
      select gen_random_uuid(), 'fake', 'default', '/', '{}', 'json', '{}', 'failed', 'Error: ' || number
      from generate_series(1, 100) as number`)
    const { groups, truncated } = await billing.core.inspect.failed()
    assert.deepEqual([groups.length, truncated], [100, true])
  })
})
