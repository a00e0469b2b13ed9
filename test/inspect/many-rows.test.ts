import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import { readInOrder } from '../../src/database/read-in-order.ts'
import { overviewSpans } from '../../src/health/overview.ts'
import { stuckKinds } from '../../src/database/stuck-payments.ts'
import { failedCalls, failedQueued, waitingCalls } from '../../src/health/sources.ts'
import { readReadiness } from '../../src/health/readiness.ts'
import { newPayment, openBilling, type TestBilling } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { idMadeAt } from '../support/id-made-at.ts'
import { seed } from '../support/seeding.ts'
import { assertReadsOf, type MostRows } from './assert-reads.ts'

const payments = 32_000
/** Of each kind that is counted, more than counts go. */
const many = 20_000
const parts = 5
/** The work of twenty days, the last of it ten minutes old. */
const time = (of: number) =>
  `now() - interval '10 min' - interval '20 days' * (${of} - number) / ${of}`
const id = (of: number) => sql.raw(idMadeAt(time(of)))

const big = [
  'webhook_calls',
  'payments',
  'payment_transitions',
  'events',
  'deliveries',
  'reviews',
  'failed_attempts',
  'payment_activity',
  'disputes',
  'forwards',
  'operator_actions',
  'counts',
]

/** Rows are read by an index, and no more of them than a bound says, however many there are. */
onPostgres((engine) => {
  let billing: TestBilling
  /** A payment with two calls, an event, and a delivery. */
  let one: string
  before(async () => {
    billing = await openBilling(engine)
    const template = await newPayment(billing.core, { checkout: false })
    await seed(billing.url, async (database) => {
      await write(database, template.id)
      for (const table of big) {
        await sql`analyze ${sql.table(`billing.${table}`)}`.execute(database.db)
      }
    })
  })
  after(() => billing.close())

  const write = (database: Database, template: string) =>
    database.transaction(async ({ db }) => {
      const run = (statement: ReturnType<typeof sql>) => statement.execute(db)
      /** Each statement writes a part of the work. */
      const inParts = async (
        statement: (part: ReturnType<typeof sql>) => ReturnType<typeof sql>,
      ) => {
        for (let part = 0; part < parts; part += 1) {
          await run(statement(sql`number % ${sql.lit(parts)} = ${sql.lit(part)}`))
        }
      }
      await run(sql`set local session_replication_role = replica`)
      await run(sql`create temp table work on commit drop as
        select number, ${sql.raw(time(payments))} as at, ${id(payments)} as event,
          ${id(payments)} as transition, ${id(payments)} as delivery, gen_random_uuid() as payment
        from generate_series(1, ${payments}::int) as number`)
      await inParts(
        (
          part,
        ) => sql`insert into billing.payments (id, gateway, status, amount, currency, payable_type,
          payable_id, checkout, next_poll_at, created_at, updated_at)
        select work.payment, 'fake', case when number <= ${many} then 'pending' else 'paid' end, amount,
          currency, payable_type, payable_id,
          case when number <= ${many} then 'unknown' else 'closed' end,
          case when number <= ${many} then at end, at, at
        from work, billing.payments where id = ${template} and ${part}`,
      )
      await inParts(
        (part) => sql`insert into billing.payments (id, type, parent_id, gateway, amount, currency,
          payable_type, payable_id, created_at, updated_at)
        select gen_random_uuid(), 'refund', payment, 'fake', 1, 'USD', 'order', '1', at, at
        from work where number <= ${many} and ${part}`,
      )
      await inParts(
        (
          part,
        ) => sql`insert into billing.webhook_calls (id, gateway, queue, url, headers, kind, payload,
          outcome, payment_id, received_at, processed_at, state, exception, next_attempt_at)
        select ${id(2 * payments)}, 'fake', 'default', '/', '{}', 'json', '{}', '[]',
          payment, at, at, case when number % 100 < 30 then 'pending'
            when number % 100 < 60 then 'failed' else 'processed' end,
          case when number % 100 between 30 and 59
            then 'in listener grant: Error: ' || number % 7 || chr(10) || repeat('x', 400) end, at
        from work, generate_series(1, 2) where ${part}`,
      )
      await inParts(
        (part) => sql`insert into billing.payment_transitions
          (id, payment_id, from_status, to_status, cause, at)
        select transition, payment, 'pending', 'paid', 'call', at from work where ${part}`,
      )
      await inParts(
        (
          part,
        ) => sql`insert into billing.events (id, dedup_key, type, payment_id, source, created_at)
        select event, 'payment:paid:' || payment, 'PaymentSucceeded', payment, 'call', at from work where ${part}`,
      )
      await inParts(
        (
          part,
        ) => sql`insert into billing.deliveries (id, event_id, listener, queue, state, exception,
          created_at)
        select delivery, event, 'mail', 'default',
          case when number <= ${many} then 'failed' else 'processed' end, 'Error: no mail', at
        from work where ${part}`,
      )
      await inParts(
        (
          part,
        ) => sql`insert into billing.failed_attempts (id, delivery_id, attempt, listener, exception)
        select ${id(payments)}, delivery, 1, 'mail', 'Error: no mail' from work where ${part}`,
      )
      await inParts(
        (part) => sql`insert into billing.payment_activity
          (id, payment_id, operation, result, duration_ms)
        select ${id(payments)}, payment, 'poll', 'answered', 5 from work where ${part}`,
      )
      await inParts(
        (part) => sql`insert into billing.reviews (id, key, gateway, reason, payment_id, created_at)
        select ${id(payments)}, sha256(payment::text::bytea), 'fake', 'amount_mismatch', payment, at
        from work where number <= ${many} and ${part}`,
      )
      await inParts(
        (
          part,
        ) => sql`insert into billing.disputes (id, payment_id, gateway, provider_reference, status,
          created_at)
        select ${id(payments)}, payment, 'fake', 'dp_' || number, 'open', at
        from work where number <= ${many} and ${part}`,
      )
      await inParts(
        (
          part,
        ) => sql`insert into billing.forwards (endpoint_id, event_id, position, state, cause, attempts,
          updated_at)
        select '0190a5e2-6b1c-7000-8000-000000000001', event, number,
          case when number <= ${many} then 'failed' else 'delivered' end, 'retry', 10, at from work where ${part}`,
      )
      await inParts(
        (
          part,
        ) => sql`insert into billing.operator_actions (id, at, operator, via, action, subject, detail)
        select gen_random_uuid(), at, 'ops-1', 'api', 'poll_payment', payment::text, '{}' from work where ${part}`,
      )
      await run(sql`insert into billing.counts (span, at, metric, gateway, label, process, value)
        select span, date_bin(step, now(), timestamptz '2000-01-01 00:00:00+00') - step * number, metric, gateway, label, process, 1
        from (values ('minute', interval '1 min', 240, 'a'), ('minute', interval '1 min', 240, 'b'),
            ('quarter', interval '15 min', 768, ''), ('hour', interval '1 h', 2400, ''))
          as spans (span, step, count, process),
          generate_series(0, count - 1) as number,
          (values ('fake'), ('one'), ('two'), ('three'), ('four')) as gateways (gateway),
          (values ('callbacks_total', 'accepted'), ('callbacks_total', 'refused'),
            ('callbacks_refused_total', 'signature_mismatch'), ('verified_by_total', '1'),
            ('payments_decided_total', 'paid/call'), ('calls_finished_total', 'processed'),
            ('callback_seconds', '0.005'), ('call_delay_seconds', '0.05'),
            ('provider_requests_total', 'poll/answered')) as metrics (metric, label)`)
      const { rows } = await sql<{ payment: string }>`
        select payment from work where number = 101`.execute(db)
      one = rows[0]?.payment ?? ''
    })

  const assertReads = (most: MostRows, work: () => Promise<unknown>) =>
    assertReadsOf(billing.database, { big, most }, work)

  test('the timeline of a payment reads what it shows', async () => {
    await assertReads({ any: 30 }, async () => {
      const timeline = await billing.core.inspect.timeline(one)
      assert.equal(timeline?.truncated, false)
      assert.deepEqual(
        [...new Set(timeline.entries.map(({ kind }) => kind))].toSorted(),
        [
          'asked',
          'call',
          'created',
          'delivery',
          'dispute',
          'event',
          'failed_attempt',
          'operator',
          'refund',
          'review',
          'transition',
        ].toSorted(),
      )
    })
  })

  for (const span of overviewSpans) {
    test(`an overview over ${span} counts no further than 10,001 of each kind`, async () => {
      const most = {
        any: 100,
        webhook_calls: 3 * 10_001,
        payments: 41_000,
        deliveries: 3 * 10_001,
        events: 10_001,
        reviews: 10_002,
        disputes: 10_001,
        forwards: 11_000,
        counts: 40_000,
      }
      await assertReads(most, async () => {
        const { problems, backlog } = await billing.core.inspect.overview({ span })
        assert.equal(backlog.pendingCalls, 10_001)
        const kinds = new Set(problems.map(({ kind }) => kind))
        for (const kind of ['failed', 'stuck', 'reviews_open', 'calls_wait', 'gateway_refuses']) {
          assert.ok(kinds.has(kind as (typeof problems)[number]['kind']), kind)
        }
        for (const problem of problems) {
          if (problem.kind === 'stuck') assert.equal(problem.count, 10_001, problem.stuck)
          if (problem.kind === 'failed' && problem.what !== 'deferred_event') {
            assert.equal(problem.count, 10_001, problem.what)
          }
        }
      })
    })
  }

  for (const stuck of stuckKinds) {
    test(`a page of ${stuck} reads hardly more than it shows, wherever it begins`, async () => {
      const { nextCursor } = await billing.core.inspect.stuck({ stuck, limit: 50 })
      const cursor = nextCursor ?? assert.fail('there is one page')
      await assertReads({ any: 200 }, async () => {
        const { data } = await billing.core.inspect.stuck({ stuck, limit: 50, cursor })
        assert.equal(data.length, 50)
      })
    })
  }

  test('what failed is grouped of the newest 10,000', async () => {
    const most = { any: 100, webhook_calls: 20_100, deliveries: 20_100, forwards: 20_100 }
    await assertReads(most, async () => {
      const { counts, groups, truncated } = await billing.core.inspect.failed()
      assert.deepEqual(counts, {
        calls: 10_001,
        deliveries: 10_001,
        deferredEvents: 0,
        forwards: 10_001,
      })
      assert.equal(truncated, true)
      assert.equal(groups.filter(({ kind }) => kind === 'call').length, 7)
      const all = groups.filter(({ kind }) => kind === 'call')
      assert.equal(
        all.reduce((sum, { count }) => sum + count, 0),
        10_000,
      )
    })
  })

  test('the facts of a gateway are read of what was counted', async () => {
    // One for each quarter of an hour; the next may have begun since they were written, and may begin.
    const accepted = async () => {
      const { rows } = await sql<{
        count: number
      }>`select count(*)::int as count from billing.counts
        where span = 'quarter' and metric = 'callbacks_total' and label = 'accepted' and gateway = 'fake'
          and at > date_bin('15 min', now(), timestamptz '2000-01-01 00:00:00+00') - interval '24 h'
        `.execute(billing.database.db)
      return rows[0]?.count ?? 0
    }
    const most = await accepted()
    let found = 0
    // Of the callbacks that were accepted and the secrets that verified, in 90 days, and of a day.
    await assertReads({ any: 0, counts: 37_000 }, async () => {
      const facts = await billing.core.inspect.gateway('fake')
      found = facts?.accepted ?? 0
    })
    const least = await accepted()
    assert.ok(found >= 94 && found >= least && found <= most, `${found}: ${least} to ${most}`)
  })

  test('readiness and the diagnosis of calls and deliveries count no further than 10,001', async () => {
    const { database } = billing
    await assertReads({ any: 0, payments: 1, webhook_calls: 10_010 }, async () => {
      const { pendingCalls, problems } = await readReadiness(database, ['fake'])
      assert.equal(pendingCalls, 10_001)
      assert.equal(problems.length, 1)
    })
    await assertReads({ any: 0, webhook_calls: 20_010 }, async () => {
      const [waiting] = await readInOrder(database, waitingCalls)
      assert.deepEqual([waiting?.count, waiting?.retried], [10_001, 0])
      assert.ok((waiting?.oldestSeconds ?? 0) > 19 * 86_400)
      assert.equal(await readInOrder(database, failedCalls), 10_001)
    })
    await assertReads({ any: 0, deliveries: 10_010 }, async () => {
      const failed = await readInOrder(database, failedQueued)
      assert.deepEqual(failed, { deliveries: 10_001, deferredEvents: 0 })
    })
  })
})
