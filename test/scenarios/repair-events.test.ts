import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import { runIfDue } from '../../src/queue/schedule.ts'
import { repairEvents } from '../../src/upkeep/repair-events.ts'
import { minutes } from '../../src/kernel/duration.ts'
import { newPayment, openBilling, sendFake, until, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { idMadeAt } from '../support/id-made-at.ts'

/** Paid payments without an event: it should never happen, and is repaired. */
onAnyDatabase((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine)
  })
  after(() => billing.close())
  beforeEach(async () => {
    // What a test has deferred is not for the worker of another.
    for (const table of ['payment_transitions', 'disputes', 'deferred_events', 'webhook_calls']) {
      await sql`delete from ${sql.table(`billing.${table}`)}`.execute(billing.database.db)
    }
  })

  const repair = async (since?: Date) =>
    repairEvents(await billing.runtime.registeredContext(), since)
  /** That they were paid so long ago, by nobody that is known. */
  const pay = async (payments: readonly string[], minutesAgo: number) => {
    const at = `now() - make_interval(mins => ${minutesAgo})`
    const { db } = billing.database
    await sql`update billing.payments set status = 'paid'
      where id = any(${[...payments]}::uuid[])`.execute(db)
    await sql`insert into billing.payment_transitions
        (id, payment_id, from_status, to_status, cause, at)
      select ${sql.raw(idMadeAt(at))}, payment, 'pending', 'paid', 'poll', ${sql.raw(at)}
      from unnest(${[...payments]}::uuid[]) as payment`.execute(db)
  }
  /** So many payments that were paid so long ago, none of which has an event. */
  const lose = async (count: number, paidMinutesAgo: number) => {
    const { id } = await newPayment(billing.core)
    const { rows } = await sql<{ id: string }>`
      insert into billing.payments select (copy).* from (
        select jsonb_populate_record(row, jsonb_build_object('id', gen_random_uuid())) as copy
        from billing.payments as row, generate_series(1, ${count}::int)
        where row.id = ${id}) as copies returning id`.execute(billing.database.db)
    const ids = rows.map((row) => row.id)
    await pay(ids, paidMinutesAgo)
    return ids
  }
  /** A call that moved the payment, or did not, and stands so. */
  const addCall = async (payment: string, state: string, moved: boolean) => {
    const call = newUuid()
    const { db } = billing.database
    const lease = state === 'processing' ? newUuid() : null
    await sql`
      insert into billing.webhook_calls (id, gateway, queue, url, headers, kind, payload, state,
        payment_id, lease_token, lease_until)
      values (${call}, 'fake', 'default', '/', '{}', 'json', '{}', ${state}, ${payment}, ${lease},
        ${lease === null ? null : sql`clock_timestamp() + interval '1 hour'`})`.execute(db)
    if (moved) {
      await sql`update billing.payment_transitions set cause = 'call', webhook_call_id = ${call}
        where payment_id = ${payment}`.execute(db)
    }
  }
  /** A dispute that was recorded so many minutes ago, and never dispatched. */
  const disputed = async (minutesAgo: number, status = 'open') => {
    const { id } = await newPayment(billing.core)
    const at = `now() - make_interval(mins => ${minutesAgo})`
    await sql`insert into billing.disputes
        (id, payment_id, gateway, provider_reference, status, updated_at)
      values (${newUuid()}, ${id}, 'fake', 'dp_1', ${status}, ${sql.raw(at)})`.execute(
      billing.database.db,
    )
    return id
  }
  const deferredOf = async (payment: string) =>
    (await billing.core.payments.get(payment))?.deferredEvents.map(({ type }) => type)

  test('one run brings up all that is missing, however much that is', async () => {
    const [first = ''] = await lose(250, 60)
    assert.equal(await repair(), 250)
    assert.deepEqual(await deferredOf(first), ['PaymentSucceeded'])
    assert.equal(await repair(), 0, 'they are on their way')
  })

  for (const state of ['pending', 'processing', 'failed']) {
    test(`the call that moved the payment brings up its event itself while it is ${state}`, async () => {
      const [own = '', other = ''] = await lose(2, 20)
      await addCall(own, state, true)
      await addCall(other, state, false)
      assert.equal(await repair(), 1)
      assert.deepEqual([await deferredOf(own), await deferredOf(other)], [[], ['PaymentSucceeded']])
    })
  }

  test('a call that has not ended is waited for no longer than a run looks back; a failed one is', async () => {
    const [pending = '', processing = '', failed = ''] = await lose(3, 35)
    await addCall(pending, 'pending', true)
    await addCall(processing, 'processing', true)
    await addCall(failed, 'failed', true)
    assert.equal(await repair(new Date()), 2)
    assert.deepEqual(await deferredOf(failed), [])
  })

  test('a run looks at what moved since the last one began that came to its end', async () => {
    const { db } = billing.database
    let broken = true
    const seen: (Date | undefined)[] = []
    const runOnce = async () => {
      await sql`insert into billing.schedules (name, next_run_at) values ('looking', now())
        on conflict (name) do update set next_run_at = now()`.execute(db)
      const run = async (_signal: AbortSignal, lastRunAt: Date | undefined) => {
        seen.push(lastRunAt)
        if (broken) throw new Error('the database is away')
      }
      const options = { newId: newUuid, signal: new AbortController().signal, scrub: String }
      return runIfDue(db, { name: 'looking', every: minutes(1), run }, options)
    }
    await assert.rejects(runOnce(), /away/)
    broken = false
    const before = new Date()
    await runOnce()
    const between = new Date()
    broken = true
    await assert.rejects(runOnce(), /away/)
    await assert.rejects(runOnce(), /away/)
    const [first, second, third, fourth] = seen
    assert.deepEqual([first, second], [undefined, undefined])
    assert.deepEqual(third, fourth)
    assert.ok(third !== undefined && third >= before && third <= between, String(third))
    await lose(1, 6 * 60)
    assert.equal(await repair(new Date()), 0)
    assert.equal(await repair(new Date(Date.now() - minutes(5 * 60 + 45))), 1)
  })

  test('a dispute without an event is dispatched once, if it changed in the last three days', async () => {
    const old = await disputed(4 * 24 * 60)
    const young = await disputed(5)
    const [open, lost] = [await disputed(60), await disputed(2 * 24 * 60, 'lost')]
    assert.equal(await repair(new Date()), 2)
    for (const id of [open, lost]) assert.deepEqual(await deferredOf(id), ['PaymentDisputed'])
    for (const id of [old, young]) assert.deepEqual(await deferredOf(id), [])
    assert.equal(await repair(new Date()), 0, 'they are on their way')
  })

  for (const state of ['pending', 'processing', 'failed']) {
    test(`a dispute is left to the calls of its payment while one is ${state}`, async () => {
      const id = await disputed(60)
      await addCall(id, state, false)
      assert.equal(await repair(new Date()), 0)
      await sql`delete from billing.webhook_calls where payment_id = ${id}`.execute(
        billing.database.db,
      )
      assert.equal(await repair(new Date()), 1)
    })
  }

  test('a dispute waits for no call that had failed before it was recorded', async () => {
    const [before, later] = [await disputed(60), await disputed(60)]
    const failAgo = async (payment: string, minutesAgo: number) => {
      await addCall(payment, 'failed', false)
      await sql`update billing.webhook_calls
        set processed_at = now() - make_interval(mins => ${minutesAgo}::int)
        where payment_id = ${payment}`.execute(billing.database.db)
    }
    await failAgo(before, 61)
    await failAgo(later, 59)
    assert.equal(await repair(new Date()), 1)
    assert.deepEqual(await deferredOf(before), ['PaymentDisputed'])
    assert.deepEqual(await deferredOf(later), [])
  })

  test('an event that was deferred before is deferred anew, from now on', async () => {
    const payment = await newPayment(billing.core)
    const { db } = billing.database
    await sql`
      insert into billing.deferred_events (id, dedup_key, type, payment_id, cause, queue, state,
        attempts, leases_lost, times_returned, exception, created_at)
      values (${newUuid()}, ${`payment:paid:${payment.id}`}, 'PaymentSucceeded', ${payment.id},
        'poll', 'default', 'processed', 2, 9, 19, 'old', now() - interval '9 days')`.execute(db)
    await pay([payment.id], 60)
    assert.equal(await repair(), 1)
    const { rows } = await sql`
      select state, cause, attempts, leases_lost, times_returned, exception,
        created_at > now() - interval '1 hour' as fresh
      from billing.deferred_events where payment_id = ${payment.id}`.execute(db)
    const anew = { attempts: 0, leases_lost: 0, times_returned: 0, exception: null, fresh: true }
    assert.deepEqual(rows, [{ state: 'pending', cause: 'operator', ...anew }])
  })

  test('work repairs by itself, on a schedule of its own', async () => {
    const payment = await newPayment(billing.core)
    await sendFake(billing.core, payment.id, 'success')
    const [lost = ''] = await lose(1, 60)
    const told = await disputed(60, 'lost')
    const typesOf = async (id: string) =>
      (await billing.core.payments.get(id))?.events.map(({ type }) => type) ?? []
    await sql`insert into billing.schedules (name, next_run_at) values ('repair', now())`.execute(
      billing.database.db,
    )
    const worker = await billing.core.work()
    for (const id of [lost, told]) {
      await until(async () => (await typesOf(id)).length > 0, { what: 'it is repaired' })
    }
    assert.deepEqual(await typesOf(lost), ['PaymentSucceeded'])
    assert.deepEqual(await typesOf(told), ['PaymentDisputed'])
    await worker.stop()
    assert.equal(await repair(), 0)
  })
})
