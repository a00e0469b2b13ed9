import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import type { Overview, OverviewSpan, Problem } from '../../src/index.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { newPayment, openBilling, sendFake, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { writeCounts, type CountedInTest } from './counting.ts'

onAnyDatabase((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine)
  })
  after(() => billing.close())
  beforeEach(async () => {
    await sql`delete from billing.counts`.execute(billing.database.db)
  })

  const count = (metric: string, counted: CountedInTest) => writeCounts(billing, metric, counted)
  const overview = (span: OverviewSpan = '1h'): Promise<Overview> =>
    billing.core.inspect.overview({ span })
  const problems = async <Kind extends Problem['kind']>(kind: Kind) =>
    (await overview()).problems.filter(
      (one): one is Extract<Problem, { readonly kind: Kind }> => one.kind === kind,
    )
  /** Its figures alone. */
  const figures = async (kind: Problem['kind']) =>
    (await problems(kind)).map(({ severity, text, fix, page, ...rest }) => {
      assert.ok([severity, text, fix, page.path, page.title].every((word) => word !== ''))
      return rest
    })
  const run = (statement: ReturnType<typeof sql>) => statement.execute(billing.database.db)

  test('what was counted stands in equal lengths of time, at most 120 of them', async () => {
    const lengths = { '1h': [60, 60], '24h': [96, 900], '7d': [84, 7_200], '30d': [120, 21_600] }
    for (const [span, length] of Object.entries(lengths)) {
      const { buckets, bucketSeconds, now } = await overview(span as OverviewSpan)
      assert.deepEqual([buckets.length, bucketSeconds], length)
      const last = buckets.at(-1)?.at ?? assert.fail()
      const age = (now.getTime() - last.getTime()) / 1000
      assert.ok(age >= 0 && age < bucketSeconds, `${age} s`)
    }
  })

  test('callbacks, why they were refused, how calls ended and how long that took', async () => {
    await count('callbacks_total', { minutesAgo: 3, values: { accepted: 7, refused: 2 } })
    await count('callbacks_refused_total', { minutesAgo: 3, values: { signature_mismatch: 2 } })
    // The minute may end meanwhile.
    await count('callbacks_total', { minutesAgo: 58, values: { accepted: 1, malformed: 1 } })
    await count('callbacks_total', { minutesAgo: 61, values: { accepted: 100 } })
    await count('callbacks_total', { gateway: '', values: { unknown_gateway: 50 } })
    await count('calls_finished_total', { minutesAgo: 3, values: { processed: 6, ignored: 1 } })
    await count('calls_finished_total', { gateway: '', values: { failed: 1 } })
    await count('callback_seconds', { minutesAgo: 3, values: { '0.005': 10, sum: 0.04 } })
    await count('call_delay_seconds', { minutesAgo: 3, values: { '1': 1 } })
    const { counts, buckets } = await overview()
    assert.deepEqual(counts, {
      accepted: 8,
      refused: [
        { reason: 'signature_mismatch', count: 2 },
        { reason: 'malformed', count: 1 },
      ],
      processed: 6,
      ignored: 1,
      failed: 1,
      callbackSeconds: { p50: 0.0035, p99: 0.00497 },
      delaySeconds: { p50: 0.75, p99: 0.995 },
    })
    const busy = buckets.filter(({ accepted }) => accepted > 0)
    assert.deepEqual(
      busy.map(({ accepted, processed }) => [accepted, processed]),
      [
        [1, 0],
        [7, 6],
      ],
    )
    const last = buckets.slice(-2).find(({ failed }) => failed > 0)
    assert.deepEqual([last?.failed, last?.callbackSeconds], [1, null])
  })

  test('longer times are put together from quarters of an hour, and from hours', async () => {
    await count('callbacks_total', { span: 'quarter', minutesAgo: 20, values: { accepted: 1 } })
    await count('callbacks_total', {
      span: 'quarter',
      minutesAgo: 6 * 1440,
      values: { accepted: 2 },
    })
    await count('callbacks_total', { span: 'hour', minutesAgo: 29 * 1440, values: { accepted: 4 } })
    const accepted = async (span: OverviewSpan) => (await overview(span)).counts.accepted
    assert.deepEqual(
      [await accepted('1h'), await accepted('24h'), await accepted('7d'), await accepted('30d')],
      [0, 1, 3, 4],
    )
  })

  test('a gateway that refuses more than 5 % is a problem: why, and since when', async () => {
    await count('callbacks_total', { minutesAgo: 2, values: { accepted: 20, refused: 1 } })
    assert.deepEqual(await problems('gateway_refuses'), [])
    await count('callbacks_total', { minutesAgo: 4, values: { refused: 19 } })
    await count('callbacks_refused_total', {
      minutesAgo: 4,
      values: { signature_mismatch: 18, timestamp_too_old: 2 },
    })
    const [problem, ...others] = await problems('gateway_refuses')
    assert.ok(problem)
    assert.deepEqual(others, [])
    assert.deepEqual([problem.gateway, problem.refused, problem.answered], ['fake', 20, 40])
    assert.deepEqual(problem.main, { reason: 'signature_mismatch', count: 18 })
    const { now } = await overview()
    const minutes = Math.floor((now.getTime() - problem.since.getTime()) / 60_000)
    assert.ok(minutes === 4 || minutes === 5, `${minutes}`)
  })

  test('a gateway none of whose callbacks verifies is a problem by itself, however few they are', async () => {
    const refused = { signature_mismatch: 3, signature_missing: 9 }
    await count('callbacks_refused_total', { span: 'quarter', minutesAgo: 700, values: refused })
    await count('callbacks_total', { span: 'quarter', minutesAgo: 700, values: { refused: 12 } })
    assert.deepEqual(await figures('gateway_unverified'), [
      { kind: 'gateway_unverified', gateway: 'fake', refused: 3 },
    ])
    await count('callbacks_total', { span: 'quarter', minutesAgo: 1_300, values: { accepted: 1 } })
    assert.deepEqual(await problems('gateway_unverified'), [])
  })

  test('payments that were found by asking are a problem where callbacks do not come', async () => {
    await count('payments_decided_total', { minutesAgo: 50, values: { 'paid/call': 9 } })
    await count('payments_decided_total', {
      minutesAgo: 2,
      values: { 'paid/poll': 30, 'failed/poll': 1 },
    })
    await count('payments_decided_total', { minutesAgo: 62, values: { 'paid/call': 900 } })
    assert.deepEqual(await figures('found_by_asking'), [
      { kind: 'found_by_asking', gateway: 'fake', byAsking: 31, byCallback: 9, share: 31 / 40 },
    ])
  })

  test('a call that waits is a warning after a minute, an error after five; more so if no worker runs', async () => {
    const { core } = billing
    const payment = await newPayment(core)
    await sendFake(core, payment.id, 'success')
    const dueFor = (seconds: number) =>
      run(sql`update billing.webhook_calls
        set next_attempt_at = now() - make_interval(secs => ${seconds})`)
    await dueFor(5)
    const kinds = async () => (await overview()).problems.map(({ kind }) => kind)
    assert.deepEqual(await kinds(), [])
    await dueFor(30)
    assert.deepEqual(await kinds(), ['no_worker'])
    await dueFor(90)
    assert.deepEqual(await kinds(), ['no_worker', 'calls_wait'])
    const [waiting] = await problems('calls_wait')
    assert.equal(waiting?.pending, 1)
    assert.ok((waiting?.oldestSeconds ?? 0) >= 90)
    assert.equal(waiting?.severity, 'warning')
    const said = /^a call has been waiting for \d min: is a worker running\?$/
    const { ready, warnings } = await core.readiness()
    assert.ok(ready)
    assert.match(warnings.join(), said)
    await dueFor(301)
    assert.equal((await problems('calls_wait'))[0]?.severity, 'error')
    const late = await core.readiness()
    assert.deepEqual([late.ready, late.warnings], [false, []])
    assert.match(late.problems.join(), said)
    await dueFor(90)
    const worker = newUuid()
    await run(sql`insert into billing.workers (id, seen_at) values (${worker}::uuid, now())`)
    assert.deepEqual(await kinds(), ['calls_wait'])
    assert.equal((await overview()).backlog.workers, 1)
    assert.equal((await overview()).backlog.pendingCalls, 1)
    await run(sql`delete from billing.workers`)
    await run(sql`delete from billing.webhook_calls`)
  })

  test('a deferred event that nobody takes means that no worker runs', async () => {
    const payment = await newPayment(billing.core)
    await run(sql`insert into billing.deferred_events (id, queue, state, next_attempt_at, dedup_key,
        type, payment_id, cause)
      values (${newUuid()}::uuid, 'default', 'pending', now() - interval '1 minute', 'a', 'PaymentSucceeded',
        ${payment.id}::uuid, 'poll')`)
    assert.deepEqual(await figures('no_worker'), [
      { kind: 'no_worker', pendingCalls: 0, pendingDeliveries: 1 },
    ])
    await run(sql`delete from billing.deferred_events`)
  })

  test('calls that failed are a problem with the listener at which most of them did', async () => {
    const { core } = billing
    for (const _ of [1, 2, 3]) await sendFake(core, newUuid(), 'success')
    await run(sql`update billing.webhook_calls set state = 'failed',
      exception = 'in listener grantAccess: Error: deadlock' || chr(10) || 'at x'`)
    const [failed] = await problems('failed')
    assert.deepEqual([failed?.what, failed?.count, failed?.mostly], ['call', 3, 'grantAccess'])
    assert.ok(failed?.newestAt instanceof Date)
    await run(sql`delete from billing.webhook_calls`)
  })

  test('stuck money, open reviews, schedules and endpoints are problems once they last', async () => {
    const payment = await newPayment(billing.core, { checkout: false })
    await run(sql`update billing.payments set checkout = 'unknown', created_at = now() - interval '2 h'
      where id = ${payment.id}::uuid`)
    await run(sql`insert into billing.disputes (id, payment_id, gateway, provider_reference, status)
      values (${newUuid()}::uuid, ${payment.id}::uuid, 'fake', 'dp_1', 'open')`)
    await run(sql`insert into billing.reviews (id, key, gateway, reason, created_at)
      values (${newUuid()}::uuid, 'k', 'fake', 'amount_mismatch', now() - interval '2 days')`)
    await run(sql`insert into billing.schedules (name, next_run_at)
      values ('late', now() - interval '2 h'), ('soon', now() - interval '50 min')
      on conflict (name) do update set next_run_at = excluded.next_run_at`)
    const endpoint = (name: string, reason: string) =>
      run(sql`insert into billing.endpoints (id, name, source, url, payload, max_concurrency,
          timeout_seconds, position, enabled, disabled_reason, disabled_at)
        values (${newUuid()}::uuid, ${name}, 'config', 'https://shop.example', 'full', 1, 10, 0, false,
          ${reason}, now())`)
    await endpoint('gone', 'gone')
    await endpoint('paused', 'operator')
    const { problems: found } = await overview()
    assert.deepEqual(
      found.map((problem) => [
        problem.kind,
        'stuck' in problem ? problem.stuck : '',
        'count' in problem ? problem.count : 1,
      ]),
      [
        ['schedule_overdue', '', 1],
        ['endpoint_disabled', '', 1],
        ['stuck', 'checkout_unknown', 1],
        ['stuck', 'dispute_open', 1],
        ['reviews_open', '', 1],
      ],
    )
    const [review] = await problems('reviews_open')
    const { now } = await overview()
    const age = now.getTime() - (review?.oldest?.getTime() ?? 0)
    assert.ok(Math.abs(age - 2 * 86_400_000) < 60_000)
    const [schedule] = await problems('schedule_overdue')
    assert.equal(schedule?.schedule, 'late')
    const [disabled] = await problems('endpoint_disabled')
    assert.deepEqual([disabled?.endpoint, disabled?.reason], ['gone', 'gone'])
  })

  test('an endpoint that fails, lags or keeps events waiting is a problem; so are events without a place', async () => {
    await run(sql`delete from billing.endpoints`)
    await run(sql`update billing.feeds set last_position = 2000 where name = 'events'`)
    const endpoint = async (name: string, position: number, failures = 0) => {
      const id = newUuid()
      await run(sql`insert into billing.endpoints (id, name, source, url, payload, max_concurrency,
          timeout_seconds, position, failures)
        values (${id}::uuid, ${name}, 'config', 'https://shop.example', 'full', 1, 10, ${position},
          ${failures})`)
      await run(sql`insert into billing.forwards (endpoint_id, event_id, position, state, cause,
          attempts, next_attempt_at)
        select ${id}::uuid, gen_random_uuid(), 1, 'pending', 'retry', 1, now() - minutes * interval '1 min'
        from unnest('{9,11}'::int[]) as minutes`)
    }
    await endpoint('fails', 2000, 3)
    await endpoint('lags', 999)
    await endpoint('near', 1000)
    await endpoint('paused', 0, 3)
    await run(sql`update billing.endpoints set enabled = false, disabled_reason = 'operator',
      disabled_at = now() where name = 'paused'`)
    const event = (minutes: number) =>
      run(sql`insert into billing.events (id, dedup_key, type, source, created_at)
        values (${newUuid()}::uuid, ${`k${minutes}`}, 'PaymentSucceeded', 'call',
          now() - ${minutes} * interval '1 min')`)
    await event(0.5)
    await event(1.5)
    const named = async (kind: 'endpoint_fails' | 'endpoint_behind' | 'forwards_late') =>
      (await problems(kind)).map((one) => [one.endpoint, one.behind, one.late])
    assert.deepEqual(await named('endpoint_fails'), [['fails', 0, 0]])
    assert.deepEqual(await named('endpoint_behind'), [['lags', 1001, 1]])
    assert.deepEqual(await named('forwards_late'), [
      ['lags', 1001, 1],
      ['near', 1000, 1],
    ])
    assert.deepEqual(
      (await problems('events_unnumbered')).map(({ text }) => text),
      ['events without a place in the feed for over a minute: 1'],
    )
  })

  test('a span that there is not is refused', async () => {
    await assert.rejects(billing.core.inspect.overview({ span: '2h' as OverviewSpan }), {
      code: 'query_invalid',
      message: /1h, 24h, 7d, 30d/,
    })
  })
})
