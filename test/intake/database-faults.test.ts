import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { usualPatience } from '../../src/database/patience.ts'
import { unavailable } from '../../src/intake/responses.ts'
import type { LocalWorker } from '../../src/worker/worker.ts'
import { newPayment, sendFake, sendJson, idle, until } from '../support/billing.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import { onPostgres } from '../support/databases.ts'
import { handClock } from '../support/hand-clock.ts'
import { openProxied, type ProxiedBilling } from './proxied.ts'
import { follow, newCall, newCalls, openStore, storedIds } from './store.ts'

const insert = /^insert into billing\.webhook_calls/

/** Within it a callback is answered: it is over when a test says so. */
const answering = 20

/**
 * A paid callback whose first delivery met a fault: repeated, it settles, with one event. So many
 * calls are stored in the end: the commit of the first delivery may come later than that of its
 * repetition.
 */
async function repeatedAfterwards(
  billing: ProxiedBilling,
  { id: paymentId, calls }: { readonly id: string; readonly calls: number },
): Promise<void> {
  const { core, told } = billing
  const heard = told.length
  await until(async () => (await sendFake(core, paymentId, 'success')).status === 200, {
    what: 'the repetition is accepted',
  })
  const worker = await core.work()
  await until(async () => (await billing.callCount(paymentId)) >= calls, { what: 'all are stored' })
  await idle(core)
  await worker.stop()
  assert.deepEqual(told.slice(heard), ['PaymentSucceeded'])
  assert.equal((await core.payments.get(paymentId))?.status, 'paid')
  const { data } = await core.calls.list({ paymentId })
  assert.ok(data.every((call) => call.state === 'processed'))
  assert.equal(data.flatMap((call) => call.dedupClaims).length, 1)
  assert.equal(await billing.callCount(paymentId), calls)
}

function codeOfFailure({ logged }: ProxiedBilling): string | undefined {
  const line = logged.find(({ msg }) => msg === 'storing calls failed')
  return (line?.['err'] as { code?: string } | undefined)?.code
}

onPostgres((engine) => {
  describe('one process meets one fault after the other', () => {
    let billing: ProxiedBilling
    before(async () => {
      billing = await openProxied(engine)
    })
    after(() => billing[Symbol.asyncDispose]())

    test('F12: database down -> 503 with Retry-After, nothing stored; up again -> 200', async () => {
      const { core, proxy } = billing
      const payment = await newPayment(core)
      await proxy.refuse()
      const answer = await sendFake(core, payment.id, 'success')
      assert.deepEqual(answer, unavailable)
      assert.equal(answer.status, 503)
      assert.equal(answer.headers['retry-after'], '5')
      // The checks before the database still hold in their order.
      assert.equal((await sendJson(core, 'paypal', {})).status, 404)
      assert.equal((await sendJson(core, 'stripe', {})).status, 403)
      assert.equal((await sendJson(core, 'fake', {})).status, 422)
      assert.equal(await billing.callCount(payment.id), 0)
      await proxy.accept()
      await repeatedAfterwards(billing, { id: payment.id, calls: 1 })
    })

    test('F14: cut before the statement -> stored by the next try, once', async () => {
      const { core, proxy } = billing
      const payment = await newPayment(core)
      const cut = proxy.next(insert, 'cut_before')
      assert.equal((await sendFake(core, payment.id, 'success')).status, 200)
      await cut.struck
      assert.equal(await billing.callCount(payment.id), 1)
      await repeatedAfterwards(billing, { id: payment.id, calls: 2 })
    })

    test('F14: cut before the statement each time -> 503, nothing stored', async () => {
      const { core, proxy } = billing
      const payment = await newPayment(core)
      for (let tries = 0; tries < 3; tries += 1) proxy.next(insert, 'cut_before')
      assert.deepEqual(await sendFake(core, payment.id, 'success'), unavailable)
      assert.equal(await billing.callCount(payment.id), 0)
      await repeatedAfterwards(billing, { id: payment.id, calls: 1 })
    })

    test('F15: cut before the answer -> the same id again conflicts with itself: 200, one row', async () => {
      const { core, proxy } = billing
      const payment = await newPayment(core)
      const inserts = () => proxy.statements.filter((text) => insert.test(text)).length
      const begun = inserts()
      const cut = proxy.next(insert, 'cut_answer')
      assert.equal((await sendFake(core, payment.id, 'success')).status, 200)
      await cut.struck
      assert.equal(await billing.callCount(payment.id), 1)
      assert.equal(inserts() - begun, 2)
      await repeatedAfterwards(billing, { id: payment.id, calls: 2 })
    })

    test('F15: cut before the answer, and no server for the next try -> 503, one event', async () => {
      const { core, proxy } = billing
      const payment = await newPayment(core)
      const held = proxy.next(insert, 'hold_answer')
      const answer = sendFake(core, payment.id, 'success')
      await held.struck
      await proxy.refuse()
      assert.deepEqual(await answer, unavailable)
      assert.equal(await billing.callCount(payment.id), 1)
      await proxy.accept()
      await repeatedAfterwards(billing, { id: payment.id, calls: 2 })
    })
  })

  test('F13: database slow -> 503 when 2 s are over; the late commit is processed, with one event', async (t) => {
    assert.equal(usualPatience.answering, 2_000)
    await using billing = await openProxied(engine, { patience: { answering } })
    const { core, proxy } = billing
    const payment = await newPayment(core)
    const clock = handClock(t)
    const held = proxy.next(insert, 'hold')
    let isAnswered = false
    const answer = sendFake(core, payment.id, 'success').finally(() => (isAnswered = true))
    await held.struck
    assert.equal(isAnswered, false, 'it is answered before its time is up')
    clock.pass(answering)
    // Only the deadline can answer: the statement is let go afterwards.
    assert.deepEqual(await answer, unavailable)
    assert.equal(await billing.callCount(), 0)
    held.release()
    await until(async () => (await billing.callCount()) === 1, { what: 'the late commit' })
    await repeatedAfterwards(billing, { id: payment.id, calls: 2 })
  })

  for (const [what, faults] of [
    ['the next tries are cut', ['cut_before', 'cut_before']],
    ['the next try hangs', ['hold']],
  ] as const) {
    test(`F15: cut before the answer, and ${what} -> 503, though the row is there`, async (t) => {
      await using billing = await openProxied(engine, { patience: { answering } })
      const { core, proxy } = billing
      const payment = await newPayment(core)
      const clock = handClock(t)
      proxy.next(insert, 'cut_answer')
      const following = faults.map((fault) => proxy.next(insert, fault))
      const answer = sendFake(core, payment.id, 'success')
      await Promise.all(following.map(({ struck }) => struck))
      clock.pass(answering)
      assert.deepEqual(await answer, unavailable)
      for (const fault of following) fault.release()
      assert.equal(await billing.callCount(), 1)
      await repeatedAfterwards(billing, { id: payment.id, calls: 2 })
    })
  }

  test('a call that is there, though its flush failed, does not wait for a lease that nobody holds', async () => {
    await using billing = await openProxied(engine)
    const { core, direct, proxy, told } = billing
    const worker = (await core.work()) as LocalWorker
    const first = await newPayment(core)
    await sendFake(core, first.id, 'success')
    // Its listener is told again if the connection is cut before the end.
    await idle(core)
    assert.equal(told.length, 1)
    const payment = await newPayment(core)
    await until(() => (worker.handOver?.room() ?? 0) > 0, { what: 'there is room for another' })
    const held = proxy.next(insert, 'hold_answer')
    const answer = sendFake(core, payment.id, 'success')
    await held.struck
    await proxy.refuse()
    assert.deepEqual(await answer, unavailable)
    const calls = `select state, leases_lost from billing.webhook_calls order by id desc limit 1`
    assert.deepEqual((await direct.query(calls)).rows, [{ state: 'processing', leases_lost: 0 }])
    await proxy.accept()
    await until(() => told.length === 2, { what: 'its listener is called' })
    await until(async () => (await direct.query(calls)).rows[0]?.state !== 'processing', {
      what: 'it is processed',
    })
    assert.deepEqual((await direct.query(calls)).rows, [{ state: 'processed', leases_lost: 0 }])
    await worker.stop()
  })

  test('of a flush whose answer is lost, every call is stored; none twice', async () => {
    const created = await engine.create()
    const proxy = await startCutProxy(created.url ?? '')
    try {
      const through = { kind: 'postgres', url: proxy.url } as const
      await using store = await openStore(created.target, { through })
      const held = proxy.next(insert, 'hold')
      // The first flush has half of the calls; a second one takes the others beside it.
      const cut = proxy.next(insert, 'cut_answer')
      const calls = newCalls(24)
      const { all } = follow(store.calls, calls)
      await Promise.all([held.struck, cut.struck])
      held.release()
      assert.deepEqual(new Set(await all), new Set(['stored']))
      assert.equal(store.statements(), 3, 'two flushes, and the second one again')
      assert.deepEqual(
        await storedIds(store.database),
        calls.map((call) => call.id),
      )
    } finally {
      await proxy.close()
      await created.drop()
    }
  })

  test('nothing is acknowledged while the commit is not answered', async () => {
    const created = await engine.create()
    const proxy = await startCutProxy(created.url ?? '')
    try {
      const through = { kind: 'postgres', url: proxy.url } as const
      await using store = await openStore(created.target, { through })
      const held = proxy.next(insert, 'hold_answer')
      const { results, all } = follow(store.calls, [newCall()])
      await held.struck
      assert.equal((await storedIds(store.database)).length, 1)
      // The connection beside it is answered meanwhile.
      assert.equal(await store.calls.store(newCall()), 'stored')
      assert.deepEqual(results, [undefined])
      held.release()
      assert.deepEqual(await all, ['stored'])
    } finally {
      await proxy.close()
      await created.drop()
    }
  })

  test('a stalled flush holds nobody beyond the deadline, and ends with the stall', async (t) => {
    const created = await engine.create()
    const proxy = await startCutProxy(created.url ?? '')
    try {
      const through = { kind: 'postgres', url: proxy.url } as const
      await using store = await openStore(created.target, { through, deadline: answering })
      const clock = handClock(t)
      const first = proxy.next(insert, 'hold')
      const stalled = proxy.next(insert, 'hold')
      // One bad row makes its neighbours go one by one, if anybody still waits for them.
      const alone = follow(store.calls, [newCall()])
      await first.struck
      const { all } = follow(store.calls, [newCall({ payload: 'no json' }), ...newCalls(11)])
      await stalled.struck
      first.release()
      assert.deepEqual(await alone.all, ['stored'])
      clock.pass(answering)
      assert.deepEqual(await all, Array(12).fill('unavailable'))
      stalled.release()
      await store.calls.close()
      assert.equal(store.statements(), 2)
      assert.equal((await storedIds(store.database)).length, 1)
      assert.equal(await store.calls.store(newCall()), 'stored')
    } finally {
      await proxy.close()
      await created.drop()
    }
  })

  for (const [code, failures, expected] of [
    ['40001', 2, 'stored'],
    ['40P01', 2, 'stored'],
    ['40001', 3, 'unavailable'],
  ] as const) {
    test(`F17: ${code} raised ${failures} times -> ${expected} after three tries at most`, async () => {
      const created = await engine.create()
      try {
        await using store = await openStore(created.target)
        await store.database.pool.query(`
          create sequence raised;
          create function fail_at_first() returns trigger language plpgsql as $$
          begin
            if nextval('raised') <= ${failures} then
              raise exception 'made up' using errcode = '${code}';
            end if;
            return new;
          end $$;
          create trigger fail_at_first before insert on billing.webhook_calls
            for each statement execute function fail_at_first();`)
        assert.equal(await store.calls.store(newCall()), expected)
        assert.equal(store.statements(), 3)
        assert.equal((await storedIds(store.database)).length, expected === 'stored' ? 1 : 0)
        assert.equal(await store.calls.store(newCall()), 'stored')
        assert.equal(store.statements(), 4)
      } finally {
        await created.drop()
      }
    })
  }

  test('a transient failure is not tried again for those whose time is up', async (t) => {
    const created = await engine.create()
    const proxy = await startCutProxy(created.url ?? '')
    try {
      const through = { kind: 'postgres', url: proxy.url } as const
      await using store = await openStore(created.target, { through, deadline: answering })
      await store.database.pool.query(`
        create function fail() returns trigger language plpgsql as $$
        begin raise exception 'made up' using errcode = '40001'; end $$;
        create trigger fail before insert on billing.webhook_calls
          for each statement execute function fail();`)
      const clock = handClock(t)
      const held = proxy.next(insert, 'hold')
      const stored = store.calls.store(newCall())
      await held.struck
      clock.pass(answering)
      assert.equal(await stored, 'unavailable')
      held.release()
      await store.calls.close()
      assert.equal(store.statements(), 1)
    } finally {
      await proxy.close()
      await created.drop()
    }
  })

  const databaseName = `(select current_database())`
  const endOurs = `select pg_terminate_backend(pid, 60000) from pg_stat_activity
    where datname = ${databaseName} and application_name like 'quittance%'`

  test('F89: database read-only -> 503; writable again -> 200 without a restart', async () => {
    await using billing = await openProxied(engine)
    const { core, direct } = billing
    const payment = await newPayment(core)
    const name = new URL(billing.proxy.url).pathname.slice(1)
    await direct.query(`alter database ${name} set default_transaction_read_only = on`)
    await direct.query(endOurs)
    await until(() => billing.logged.some(({ msg }) => msg === 'database connection lost'), {
      what: 'the connections are gone',
    })
    assert.deepEqual(await sendFake(core, payment.id, 'success'), unavailable)
    assert.equal(codeOfFailure(billing), '25006')
    assert.equal(await billing.callCount(), 0)
    await direct.query(`alter database ${name} reset default_transaction_read_only`)
    await direct.query(endOurs)
    await repeatedAfterwards(billing, { id: payment.id, calls: 1 })
  })

  test('a connection that leads to a server without writes is left: the call is stored through the next', async () => {
    await using billing = await openProxied(engine)
    const { core, proxy } = billing
    const payment = await newPayment(core)
    proxy.failOver()
    const held = proxy.next(insert, 'hold')
    const answer = sendFake(core, payment.id, 'success')
    await held.struck
    proxy.promote()
    held.release()
    assert.equal((await answer).status, 200)
    assert.equal(await billing.callCount(), 1)
    assert.equal(codeOfFailure(billing), undefined)
  })

  test('F90: too many connections -> 503; room again -> 200 without a restart', async () => {
    const role = `quittance_test_${randomBytes(6).toString('hex')}`
    await using billing = await openProxied(engine, { role })
    const { core, direct } = billing
    const payment = await newPayment(core)
    await direct.query(`alter role ${role} connection limit 0`)
    await direct.query(endOurs)
    await until(() => billing.logged.some(({ msg }) => msg === 'database connection lost'), {
      what: 'the connections are gone',
    })
    assert.deepEqual(await sendFake(core, payment.id, 'success'), unavailable)
    assert.equal(codeOfFailure(billing), '53300')
    await direct.query(`alter role ${role} connection limit -1`)
    await repeatedAfterwards(billing, { id: payment.id, calls: 1 })
  })

  for (const [what, strike, restore] of [
    [
      'every connection is ended by the server',
      (one: ProxiedBilling) => one.direct.query(endOurs),
      async () => {},
    ],
    [
      'the server is away for a while',
      ({ proxy }: ProxiedBilling) => proxy.refuse(),
      async ({ core, proxy }: ProxiedBilling, id: string) => {
        assert.deepEqual(await sendFake(core, id, 'success'), unavailable)
        await proxy.accept()
      },
    ],
  ] as const) {
    test(`F88: ${what} -> intake and worker go on by themselves`, async () => {
      await using billing = await openProxied(engine)
      const { core } = billing
      const first = await newPayment(core)
      const second = await newPayment(core)
      await core.work()
      assert.equal((await sendFake(core, first.id, 'success')).status, 200)
      await idle(core)
      const struck = strike(billing)
      // Under way while it happens: answered, with 200 only if it is stored.
      const during = await sendFake(core, second.id, 'success')
      assert.ok([200, 503].includes(during.status))
      await struck
      await restore(billing, second.id)
      await until(async () => (await sendFake(core, second.id, 'success')).status === 200, {
        what: 'calls are accepted again',
      })
      await until(async () => (await core.payments.get(second.id))?.status === 'paid', {
        what: 'calls are processed again',
      })
      // The lease of a call whose connection was cut lasts 30 s.
      await idle(core)
      // A listener whose transaction was cut is told again; what is committed, is so once.
      for (const { id } of [first, second]) {
        const { data } = await core.events.list({ paymentId: id })
        assert.deepEqual(
          data.map((event) => event.type),
          ['PaymentSucceeded'],
        )
      }
      const { data } = await core.calls.list({ paymentId: second.id })
      assert.deepEqual([...new Set(data.map((call) => call.state))], ['processed'])
    })
  }

  test('F23: slow listeners hold every lane and its connection, intake still stores, and all are paid', async () => {
    const gate = Promise.withResolvers<void>()
    let listening = 0
    const listener = () => {
      listening += 1
      return gate.promise
    }
    await using billing = await openProxied(engine, {
      poolSize: 4,
      listeners: { slow: { on: 'PaymentSucceeded', run: listener } },
    })
    const { core, direct } = billing
    const payments = await Promise.all(Array.from({ length: 30 }, () => newPayment(core)))
    const worker = await core.work()
    const deliver = payments.map((payment) => sendFake(core, payment.id, 'success'))
    const holding = `select count(*)::int as n from pg_stat_activity
      where datname = ${databaseName} and state = 'idle in transaction'`
    await until(() => listening === 2, { what: 'listeners hold both lanes' })
    for (const answer of await Promise.all(deliver)) assert.equal(answer.status, 200)
    const [last] = payments.slice(-1)
    assert.equal((await sendFake(core, last?.id ?? '', 'success')).status, 200)
    // Others are in a transaction for a moment only.
    await until(async () => (await direct.query<{ n: number }>(holding)).rows[0]?.n === 2, {
      what: 'only the two listeners stand in a transaction',
    })
    assert.equal(listening, 2)
    assert.equal(await billing.callCount(), 31)
    gate.resolve()
    const paid = `select count(*)::int as n from billing.payments where status = 'paid'`
    await idle(core)
    assert.equal((await direct.query<{ n: number }>(paid)).rows[0]?.n, 30)
    await worker.stop()
  })
})
