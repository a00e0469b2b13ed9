import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { days, hours, minutes } from '../../src/kernel/duration.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { TestBilling as RecordedBilling } from '../../src/testing/index.ts'
import { webhookCalls } from '../../src/queue/calls.ts'
import { takeRows } from '../../src/leases/queue-rows.ts'
import { runIfDue } from '../../src/queue/schedule.ts'
import { capturedLog } from '../support/captured-log.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { ageCall, idMadeAt } from '../support/id-made-at.ts'
import {
  allCalls,
  openBilling,
  openRecorded,
  sendFake,
  until,
  type TestBilling,
} from '../support/billing.ts'

onAnyDatabase((engine) => {
  describe('Deduplication', () => {
    let opened: RecordedBilling
    before(async () => {
      opened = await openRecorded(engine)
    })
    after(() => opened.close())
    const keysOf = (payment: { readonly id: string }) =>
      opened.events.about(payment).map(({ dedupKey }) => dedupKey)
    const callsOf = async ({ id }: { readonly id: string }) =>
      (await opened.billing.calls.list({ paymentId: id, limit: 100 })).data

    test('a re-delivered paid callback never fires twice, and changes nothing', async () => {
      const payment = await opened.createPayment()
      const callback = opened.signedRequest(payment.gateway, { payment, scenario: 'success' })
      for (let delivery = 0; delivery < 5; delivery += 1) await opened.deliver(callback)
      await opened.idle({ withinMs: 60_000 })
      const stored = () => opened.billing.payments.get(payment.id)
      // An event gets its place in the feed a moment after its commit.
      await until(
        async () => (await stored())?.events.every(({ position }) => position !== null) === true,
        { what: 'its event is in the feed' },
      )
      const before = await stored()
      await opened.deliver(callback)
      await opened.idle({ withinMs: 60_000 })
      assert.deepEqual(await opened.billing.payments.get(payment.id), before)
      assert.deepEqual(keysOf(payment), [`payment:paid:${payment.id}`])
      const calls = await callsOf(payment)
      const results = calls.map((call) => call.outcome?.[0]?.result)
      assert.equal(results.filter((result) => result === 'applied').length, 1)
      assert.equal(results.filter((result) => result === 'duplicate').length, 5)
      assert.ok(calls.every((call) => call.state === 'processed'))
    })

    test('of twenty deliveries at the same time one fires', async () => {
      const payment = await opened.createPayment()
      const callback = opened.signedRequest(payment.gateway, { payment, scenario: 'success' })
      await opened.deliverAtOnce(Array.from({ length: 20 }, () => callback))
      await opened.idle({ withinMs: 60_000 })
      assert.deepEqual(keysOf(payment), [`payment:paid:${payment.id}`])
      const results = (await callsOf(payment)).map((call) => call.outcome?.[0]?.result)
      assert.deepEqual([results.length, results.filter((one) => one === 'applied').length], [20, 1])
    })

    test('a decline followed by a payment on the same checkout fires both, each once', async () => {
      const payment = await opened.createPayment()
      for (const result of ['failure', 'failure', 'success', 'success', 'failure'] as const) {
        await opened.send(payment, result)
        await opened.idle({ withinMs: 60_000 })
      }
      assert.deepEqual(keysOf(payment), [
        `payment:failed:${payment.id}`,
        `payment:paid:${payment.id}`,
      ])
    })
  })

  describe('Retention', () => {
    let billing: TestBilling
    const log = capturedLog()
    before(async () => {
      billing = await openBilling(engine, { log: log.log })
    })
    after(() => billing.close())
    const age = (callId: string, days: number) => ageCall(billing.database.db, callId, days)
    const storeAged = async (state: string, days: number) => {
      await sendFake(billing.core, randomUUID(), 'success')
      const call = (await allCalls(billing.core)).at(-1)
      assert.ok(call)
      await sql`update billing.webhook_calls set state = ${state},
          lease_token = case when ${state} = 'processing' then ${newUuid()}::uuid end,
          lease_until = case when ${state} = 'processing' then clock_timestamp() + interval '1 h' end
        where id = ${call.id}::uuid`.execute(billing.database.db)
      return age(call.id, days)
    }

    test('prune deletes what ended more than 30 days ago, and nothing else', async () => {
      const gone = [
        await storeAged('processed', 31),
        await storeAged('ignored', 31),
        await storeAged('failed', 31),
      ]
      const kept = [
        await storeAged('pending', 400),
        await storeAged('processing', 400),
        await storeAged('processed', 29),
        await storeAged('failed', 29),
      ]
      const progress: number[] = []
      assert.deepEqual(await billing.core.prune((deleted) => progress.push(deleted)), {
        deletedCalls: 3,
        deletedFailedCalls: 1,
      })
      assert.deepEqual(progress, [3])
      for (const id of gone) assert.equal(await billing.core.calls.get(id), undefined)
      for (const id of kept) assert.ok(await billing.core.calls.get(id))
      assert.ok(log.lines.some((line) => line['msg'] === 'pruned calls that had failed for good'))
      await sql`delete from billing.webhook_calls`.execute(billing.database.db)
      await sql`delete from billing.reviews`.execute(billing.database.db)
    })

    test('however many calls go on, those behind them are deleted', async () => {
      const { db } = billing.database
      // More than one statement looks at.
      await sql`
        insert into billing.webhook_calls
          (id, gateway, queue, url, headers, kind, payload, state, received_at, next_attempt_at)
        select ${sql.raw(idMadeAt(`now() - interval '40 days' + number * interval '1 s'`))},
          'fake', 'default', '/', '{}', 'json', '{}',
          case when number <= 600 then 'pending' else 'ignored' end,
          now() - interval '40 days', now() + interval '1 day'
        from generate_series(1, 1200) as number`.execute(db)
      assert.equal((await billing.core.prune()).deletedCalls, 600)
      await sql`delete from billing.webhook_calls`.execute(db)
    })

    test('the daily prune run is due once, on one node, and sets its next run', async () => {
      const { db } = billing.database
      let runs = 0
      const schedule = {
        name: 'daily',
        every: days(1),
        offset: hours(3) + minutes(17),
        run: async () => void (runs += 1),
      }
      const options = { newId: newUuid, signal: new AbortController().signal, scrub: String }
      assert.equal(await runIfDue(db, schedule, options), 'not_due')
      await sql`update billing.schedules set next_run_at = now() where name = 'daily'`.execute(db)
      const nodes = await Promise.all([1, 2, 3].map(() => runIfDue(db, schedule, options)))
      assert.deepEqual(nodes.toSorted(), ['not_due', 'not_due', 'ran'])
      assert.equal(runs, 1)
      const { rows } = await sql<{ ahead: number; at: string }>`
        select extract(epoch from next_run_at - clock_timestamp())::float8 as ahead,
          to_char(next_run_at at time zone 'UTC', 'HH24:MI') as at
        from billing.schedules where name = 'daily'`.execute(db)
      assert.equal(rows[0]?.at, '03:17')
      assert.ok(rows[0].ahead > 0 && rows[0].ahead <= 24 * 3600)
    })

    test('calls are leased oldest first, and never twice', async () => {
      const { db } = billing.database
      const take = () =>
        takeRows(db, webhookCalls, { limit: 2, token: newUuid(), alone: false, listeners: [] })
      for (const _ of [1, 2, 3]) await sendFake(billing.core, randomUUID(), 'success')
      const ids = (await allCalls(billing.core)).map(({ id }) => id)
      const [one, two] = await Promise.all([take(), take()])
      assert.deepEqual([...one, ...two].map((lease) => lease.id).toSorted(), ids.toSorted())
      assert.deepEqual(await take(), [])
      await sql`delete from billing.webhook_calls`.execute(db)
    })
  })
})
