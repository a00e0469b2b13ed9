import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { migrate } from '../../src/database/migrate.ts'
import { days, hours, minutes } from '../../src/kernel/duration.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { TestBilling as RecordedBilling } from '../../src/testing/index.ts'
import { requireAllListeners, createListenerRegistry } from '../../src/listeners/listeners.ts'
import { webhookCalls } from '../../src/queue/calls.ts'
import { expireRows, failRow, releaseRows, returnRow } from '../../src/queue/end-rows.ts'
import { takeRows } from '../../src/queue/take-rows.ts'
import { runIfDue } from '../../src/queue/schedule.ts'
import { capturedLog } from '../support/captured-log.ts'
import { forEachDatabase } from '../support/databases.ts'
import { ageCall, idMadeAt } from '../support/id-made-at.ts'
import {
  allCalls,
  newPayment,
  openBilling,
  openRecorded,
  sendFake,
  idle,
  until,
  type TestBilling,
} from '../support/billing.ts'

forEachDatabase((engine) => {
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

    test('the key is {type}:{status}:{reference} and is shown on the call that claimed it', async () => {
      const payment = await opened.createPayment()
      await opened.send(payment, 'success')
      await opened.idle()
      const [call] = await callsOf(payment)
      assert.deepEqual(call?.dedupClaims, [`payment:paid:${payment.id}`])
    })

    test('a re-delivered paid callback never fires twice, and changes nothing', async () => {
      const payment = await opened.createPayment()
      const callback = opened.signedRequest(payment.gateway, { payment, scenario: 'success' })
      for (let delivery = 0; delivery < 5; delivery += 1) await opened.deliver(callback)
      await opened.idle()
      const stored = () => opened.billing.payments.get(payment.id)
      // An event gets its place in the feed a moment after its commit.
      await until(
        async () => (await stored())?.events.every(({ position }) => position !== null) === true,
        { what: 'its event is in the feed' },
      )
      const before = await stored()
      await opened.deliver(callback)
      await opened.idle()
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
      await opened.idle()
      assert.deepEqual(keysOf(payment), [`payment:paid:${payment.id}`])
      const results = (await callsOf(payment)).map((call) => call.outcome?.[0]?.result)
      assert.deepEqual([results.length, results.filter((one) => one === 'applied').length], [20, 1])
    })

    test('a decline followed by a payment on the same checkout fires both, each once', async () => {
      const payment = await opened.createPayment()
      for (const result of ['failure', 'failure', 'success', 'success', 'failure'] as const) {
        await opened.send(payment, result)
        await opened.idle()
      }
      assert.deepEqual(keysOf(payment), [
        `payment:failed:${payment.id}`,
        `payment:paid:${payment.id}`,
      ])
    })

    test('a replay runs the same code, and the claims still hold', async () => {
      const payment = await opened.createPayment()
      await opened.send(payment, 'success')
      await opened.idle()
      const [call] = await callsOf(payment)
      assert.ok(call)
      await opened.billing.calls.replay(call.id)
      await opened.idle()
      assert.equal(keysOf(payment).length, 1)
      const replayed = await opened.billing.calls.get(call.id)
      assert.deepEqual(replayed?.outcome, [{ result: 'duplicate', type: 'payment:paid' }])
      assert.deepEqual(replayed?.dedupClaims, [`payment:paid:${payment.id}`])
    })

    test('an early callback settles its payment when that is created', async () => {
      const id = randomUUID()
      await sendFake(opened.billing, id, 'success')
      await opened.idle()
      assert.equal((await allCalls(opened.billing)).at(-1)?.state, 'ignored')
      const payment = await opened.createPayment({ id })
      await until(async () => (await opened.billing.payments.get(id))?.status === 'paid', {
        what: 'the payment is paid',
      })
      await opened.idle()
      assert.deepEqual(keysOf(payment), [`payment:paid:${id}`])
    })
  })

  describe('Claims', () => {
    let billing: TestBilling
    before(async () => {
      billing = await openBilling(engine)
      await billing.core.work()
    })
    after(() => billing.close())
    const callsOf = async ({ id }: { readonly id: string }) =>
      (await billing.core.calls.list({ paymentId: id })).data

    test('the claims of a call stand on its row', async () => {
      const payment = await newPayment(billing.core)
      await sendFake(billing.core, payment.id, 'success')
      await idle(billing.core)
      const [call] = await callsOf(payment)
      assert.ok(call)
      await sql`update billing.events set webhook_call_id = null
        where payment_id = ${payment.id}::uuid`.execute(billing.database.db)
      const again = await billing.core.calls.get(call.id)
      assert.deepEqual(again?.dedupClaims, [`payment:paid:${payment.id}`])
      await billing.core.calls.replay(call.id)
      await idle(billing.core)
      const replayed = await billing.core.calls.get(call.id)
      assert.deepEqual(replayed?.dedupClaims, [`payment:paid:${payment.id}`])
    })

    for (const [row, claims] of [
      ['from before calls knew their claims', null],
      ['finished by an older version', '[]'],
    ] as const) {
      test(`the claims of a call ${row} are those that its payment’s events say, replayed or not`, async () => {
        const payment = await newPayment(billing.core)
        for (const delivery of [1, 2]) {
          await sendFake(billing.core, payment.id, 'success')
          await idle(billing.core)
          assert.equal((await callsOf(payment)).length, delivery)
        }
        await sql`update billing.webhook_calls set dedup_claims = ${claims}::jsonb
          where payment_id = ${payment.id}::uuid`.execute(billing.database.db)
        const shown = async () => (await callsOf(payment)).map(({ dedupClaims }) => dedupClaims)
        assert.deepEqual(await shown(), [[], [`payment:paid:${payment.id}`]])
        for (const { id } of await callsOf(payment)) await billing.core.calls.replay(id)
        await idle(billing.core)
        assert.deepEqual(await shown(), [[], [`payment:paid:${payment.id}`]])
      })
    }
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

    test('what a person must look at outlives its call, also if an older version has marked it', async () => {
      const { db } = billing.database
      const ignored = await storeAged('ignored', 31)
      const failed = await storeAged('failed', 31)
      await sql`update billing.webhook_calls set needs_review = true,
          outcome = '[{"result":"ignored","type":"payment","reason":"amount_mismatch"}]'
        where id = ${ignored}::uuid`.execute(db)
      await sql`update billing.webhook_calls set exception = 'Error: no shop\n  at shop.ts'
        where id = ${failed}::uuid`.execute(db)
      assert.equal((await billing.core.prune()).deletedCalls, 2)
      const { data } = await billing.core.reviews.list()
      const found = data.map(({ reason, detail, state, webhookCallId }) => ({
        reason,
        detail,
        state,
        call: webhookCallId,
      }))
      assert.deepEqual(
        found.toSorted((a, b) => (a.reason < b.reason ? -1 : 1)),
        [
          { reason: 'amount_mismatch', detail: null, state: 'open', call: ignored },
          { reason: 'call_failed', detail: 'Error: no shop', state: 'open', call: failed },
        ],
      )
      await sql`delete from billing.reviews`.execute(db)
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

    test('claims leave with the call, the event stays, and a resend on day 31 fires nothing', async () => {
      const told: string[] = []
      billing.core.on('PaymentSucceeded', 'recorder', (event) => void told.push(event.payment.id))
      const worker = await billing.core.work()
      const payment = await newPayment(billing.core)
      await sendFake(billing.core, payment.id, 'success')
      await idle(billing.core)
      const [call] = (await billing.core.calls.list({ paymentId: payment.id })).data
      assert.ok(call)
      const aged = await age(call.id, 31)
      await billing.core.prune()
      assert.equal(await billing.core.calls.get(aged), undefined)
      const { data } = await billing.core.events.list({ paymentId: payment.id })
      assert.equal(data.length, 1)
      await sendFake(billing.core, payment.id, 'success')
      await idle(billing.core)
      assert.deepEqual(told, [payment.id])
      await worker.stop()
    })

    test('a run that is stopped stays due; one that fails is tried again within the hour', async () => {
      const { db } = billing.database
      const stop = new AbortController()
      const options = { newId: newUuid, signal: stop.signal }
      const due = () =>
        sql`insert into billing.schedules (name, next_run_at) values ('moody', now())
          on conflict (name) do update set next_run_at = now()`.execute(db)
      const schedule = (run: () => Promise<void>) => ({
        name: 'moody',
        every: days(1),
        offset: hours(3) + minutes(17),
        run,
      })
      await due()
      const broken = schedule(() => Promise.reject(new Error('no disk')))
      await assert.rejects(runIfDue(db, broken, options), /no disk/)
      const { rows } = await sql<{ soon: boolean; last_error: string }>`
        select next_run_at between now() and now() + interval '1 h' as soon, last_error
        from billing.schedules where name = 'moody'`.execute(db)
      assert.deepEqual(rows, [{ soon: true, last_error: 'Error: no disk' }])
      await due()
      const cut = schedule(async () => {
        stop.abort()
        stop.signal.throwIfAborted()
      })
      assert.equal(await runIfDue(db, cut, options), 'stopped')
      const again = { newId: newUuid, signal: new AbortController().signal }
      assert.equal(
        await runIfDue(
          db,
          schedule(async () => {}),
          again,
        ),
        'ran',
      )
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
      const options = { newId: newUuid, signal: new AbortController().signal }
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
  })

  describe('Leases', () => {
    let billing: TestBilling
    before(async () => {
      billing = await openBilling(engine)
    })
    after(() => billing.close())
    const take = (options: { alone?: boolean; limit?: number; queues?: string[] } = {}) =>
      takeRows(billing.database.db, webhookCalls, {
        limit: options.limit ?? 10,
        token: newUuid(),
        alone: options.alone ?? false,
        queues: options.queues,
        listeners: [],
      })
    const empty = () => sql`delete from billing.webhook_calls`.execute(billing.database.db)
    const store = async () => {
      await sendFake(billing.core, randomUUID(), 'success')
      const call = (await allCalls(billing.core)).at(-1)
      assert.ok(call)
      return call.id
    }

    test('are taken oldest first, and never twice', async () => {
      await empty()
      const ids = [await store(), await store(), await store()]
      const [one, two] = await Promise.all([take({ limit: 2 }), take({ limit: 2 })])
      assert.deepEqual([...one, ...two].map((lease) => lease.id).toSorted(), ids.toSorted())
      assert.deepEqual((await take()).length, 0)
    })

    test('only the named queues are taken from', async () => {
      await empty()
      await store()
      assert.equal((await take({ queues: ['other'] })).length, 0)
      assert.equal((await take({ queues: ['other', 'default'] })).length, 1)
    })

    test('a lease that ran out goes back; its old holder can change nothing more', async () => {
      await empty()
      await store()
      const { db } = billing.database
      const [zombie] = await take()
      assert.ok(zombie)
      await sql`update billing.webhook_calls set lease_until = now() - interval '1 s'`.execute(db)
      assert.deepEqual(await expireRows(db, webhookCalls), { requeued: 1, failed: 0 })
      assert.equal((await take()).length, 0, 'from then on it is leased alone')
      const [heir] = await take({ alone: true })
      assert.equal(heir?.leases_lost, 1)
      assert.notEqual(heir?.token, zombie.token)
      const table = webhookCalls
      assert.equal(await returnRow(db, table, { lease: zombie, after: 0 }), false)
      const failure = { lease: zombie, after: 0, exception: 'late' }
      assert.equal(await failRow(db, table, failure), false)
      await releaseRows(db, table, [zombie])
      assert.equal((await allCalls(billing.core))[0]?.state, 'processing')
    })

    test('after ten lost workers the call is failed with `worker lost`, and a replay starts at 0', async () => {
      await empty()
      const id = await store()
      const { db } = billing.database
      for (let loss = 1; loss <= 10; loss += 1) {
        const [lease] = await take({ alone: loss > 1 })
        assert.ok(lease, `lease ${loss}`)
        await sql`update billing.webhook_calls set lease_until = now() - interval '1 s'`.execute(db)
        await expireRows(db, webhookCalls)
      }
      const call = await billing.core.calls.get(id)
      assert.equal(call?.state, 'failed')
      assert.equal(call.needsReview, true)
      assert.equal(call.attempts, 0)
      assert.match(call.exception ?? '', /^worker lost: 10 workers died/)
      await billing.core.calls.replay(id)
      const again = await billing.core.calls.get(id)
      assert.deepEqual([again?.state, again?.attempts, again?.leasesLost], ['pending', 0, 0])
    })

    test('a call that is pending or processing is not replayed', async () => {
      await empty()
      const id = await store()
      await assert.rejects(billing.core.calls.replay(id), { code: 'call_in_progress' })
      await take()
      await assert.rejects(billing.core.calls.replay(id), { code: 'call_in_progress' })
      await assert.rejects(billing.core.calls.replay(randomUUID()), { code: 'call_not_found' })
    })
  })

  describe('Listeners of other processes', () => {
    let billing: TestBilling
    before(async () => {
      billing = await openBilling(engine)
    })
    after(() => billing.close())

    test('a process that lacks a known listener takes no call and refuses with its name', async () => {
      const { core, database } = billing
      await sql`insert into billing.listeners (name, event_types, queued)
        values ('grantAccess', '{PaymentSucceeded}', false)`.execute(database.db)
      await assert.rejects(core.work(), { code: 'listener_missing', message: /grantAccess/ })
      await sendFake(core, randomUUID(), 'success')
      const options = { limit: 1, token: newUuid(), alone: false }
      const without = await takeRows(database.db, webhookCalls, { ...options, listeners: [] })
      assert.equal(without.length, 0)
      const withIt = await takeRows(database.db, webhookCalls, {
        ...options,
        listeners: ['grantAccess/PaymentSucceeded'],
      })
      assert.equal(withIt.length, 1)
    })

    test('a running worker ends with that error once another process registers a new listener', async () => {
      const { core, database } = billing
      await core.listeners.forget('grantAccess')
      await requireAllListeners(database.db, createListenerRegistry())
      const worker = await core.work()
      await sql`insert into billing.listeners (name, event_types, queued)
        values ('newcomer', '{PaymentFailed}', true)`.execute(database.db)
      const error = await worker.ended
      assert.match(error?.message ?? '', /newcomer/)
      await assert.rejects(core.listeners.forget('nobody'), { code: 'listener_not_found' })
    })
  })

  test('migrating twice, and by several processes at once, is harmless', async () => {
    const billing = await openBilling(engine)
    assert.deepEqual(await migrate(billing.database), [])
    assert.deepEqual(await Promise.all([1, 2, 3].map(() => migrate(billing.database))), [
      [],
      [],
      [],
    ])
    await billing.close()
  })
})
