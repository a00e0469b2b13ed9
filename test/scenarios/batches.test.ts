import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { createNumbers } from '../../src/numbers/slots.ts'
import { assemble } from '../../src/billing/assemble.ts'
import type { EventOf } from '../../src/events/catalogue.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { createBatches } from '../../src/worker/batches.ts'
import type { ProcessingContext } from '../../src/processing/context.ts'
import { interpretCall, type InterpretedCall } from '../../src/processing/interpret-call.ts'
import { processInterpreted } from '../../src/processing/process-calls.ts'
import type { ListenerContext } from '../../src/listeners/listener.ts'
import { webhookCalls } from '../../src/queue/calls.ts'
import { takeRows } from '../../src/queue/take-rows.ts'
import { newPayment, openBilling, sendFake, type TestBilling } from '../support/billing.ts'
import { forEachDatabase } from '../support/databases.ts'
import { sendStripe, sessionEvent, stripeOptions } from '../support/stripe-callbacks.ts'

type Handler = (event: EventOf<'PaymentSucceeded'>, context: ListenerContext) => unknown

/** Writes what the tests look for. */
const note: Handler = (event, { tx }) =>
  tx.query('insert into notes values ($1)', [event.payment.id])

forEachDatabase((engine) => {
  let billing: TestBilling
  let processing: ProcessingContext
  let handler: Handler = note

  before(async () => {
    billing = await openBilling(engine, { ...stripeOptions, listenerBudgetMs: 10_000 })
    const { core, database, runtime } = billing
    await sql`create table notes (payment_id uuid)`.execute(database.db)
    await sql`create table late_rules (id int primary key, rule int
      references late_rules (id) deferrable initially deferred)`.execute(database.db)
    core.on(
      'PaymentSucceeded',
      'noting',
      async (event, context) => void (await handler(event, context)),
    )
    core.on('PaymentFailed', 'mailing', () => {}, { queued: true })
    const { settings, listeners } = runtime
    const open = await runtime.opened()
    const parts = await assemble(open, {
      settings,
      listeners,
      numbers: createNumbers(),
      wake: () => {},
    })
    processing = { ...parts.processing, listenerBudget: 10_000 }
  })
  afterEach(async () => {
    handler = note
    await sql`truncate notes`.execute(billing.database.db)
    // What a test left pending must not come back in the next one.
    await sql`delete from billing.webhook_calls`.execute(billing.database.db)
  })
  after(() => billing.close())

  async function takeAll(): Promise<readonly InterpretedCall[]> {
    const taken = await takeRows(billing.database.db, webhookCalls, {
      limit: 100,
      token: newUuid(),
      alone: false,
      listeners: processing.listeners.keys(),
    })
    return Promise.all(
      taken.map(async (call) => ({ call, outcomes: await interpretCall(call, processing) })),
    )
  }

  async function batchOf(
    payments: readonly Payment[],
    result: 'success' | 'failure' = 'success',
  ): Promise<readonly InterpretedCall[]> {
    for (const { id } of payments) await sendFake(billing.core, id, result)
    const calls = await takeAll()
    assert.equal(calls.length, payments.length)
    return calls
  }

  /** What a batch leaves goes on alone. */
  async function processAll(
    calls: readonly InterpretedCall[],
    by = processing,
  ): Promise<readonly string[]> {
    const together = await processInterpreted(calls, by)
    const ended: string[] = []
    for (const [index, one] of calls.entries()) {
      const end = together[index]
      const [last = 'none'] = end === 'left' ? await processInterpreted([one], by) : [end]
      ended.push(last)
    }
    return ended
  }

  const makePayments = (count: number) =>
    Promise.all(Array.from({ length: count }, () => newPayment(billing.core)))

  const statusOf = async (id: string) => (await billing.core.payments.get(id))?.status

  const callOf = async (paymentId: string) => {
    const { rows } = await sql<{ state: string; attempts: number; exception: string | null }>`
      select state, attempts, exception from billing.webhook_calls
      where payload::text like ${`%${paymentId}%`}`.execute(billing.database.db)
    return rows[0]
  }

  const notes = async () => {
    const { rows } = await sql<{ payment_id: string }>`select payment_id from notes`.execute(
      billing.database.db,
    )
    return rows.map((row) => row.payment_id)
  }

  const eventsOf = async (payments: readonly Payment[]) => {
    const { rows } = await sql<{ payment_id: string; transaction: string }>`
      select event.payment_id, call.xmin::text as transaction from billing.events as event
      join billing.webhook_calls as call on call.id = event.webhook_call_id
      where event.payment_id = any(${payments.map(({ id }) => id)}::uuid[])`.execute(
      billing.database.db,
    )
    return rows
  }

  for (const [what, result] of [
    ['listeners in it', 'success'],
    ['queued listeners only', 'failure'],
  ] as const) {
    test(`calls with ${what} are processed in one transaction, each event once`, async () => {
      // Few: listeners share a transaction for half a second only.
      const payments = await makePayments(4)
      const results = await processAll(await batchOf(payments, result))
      assert.deepEqual([...new Set(results)], ['done'])
      const events = await eventsOf(payments)
      assert.equal(events.length, 4)
      assert.equal(new Set(events.map((event) => event.transaction)).size, 1)
      assert.equal((await notes()).length, result === 'success' ? 4 : 0)
      const { rows } = await sql`
        select from billing.deliveries as delivery join billing.events as event
          on event.id = delivery.event_id
        where event.payment_id = any(${payments.map(({ id }) => id)}::uuid[])`.execute(
        billing.database.db,
      )
      assert.equal(rows.length, result === 'success' ? 0 : 4)
    })
  }

  test('a listener that throws undoes its own call alone, and the payment stays paid', async () => {
    const payments = await makePayments(5)
    const { id } = payments[2] ?? assert.fail()
    let told = 0
    handler = async (event, context) => {
      await note(event, context)
      told += 1
      if (event.payment.id === id) throw new Error('no room')
    }
    await processAll(await batchOf(payments))
    assert.equal(told, 5)
    const others = payments.filter((payment) => payment.id !== id).map((payment) => payment.id)
    assert.deepEqual((await notes()).toSorted(), others.toSorted())
    assert.equal((await eventsOf(payments)).length, 4)
    assert.equal(await statusOf(id), 'paid')
    const call = await callOf(id)
    assert.deepEqual([call?.state, call?.attempts], ['pending', 1])
    assert.match(call?.exception ?? '', /in listener noting: .*no room/)
  })

  test('a listener that swallows an SQL error is blamed for it, and no other', async () => {
    const payments = await makePayments(3)
    const { id } = payments[0] ?? assert.fail()
    handler = async (event, context) => {
      await note(event, context)
      if (event.payment.id === id) await context.tx.query('select nonsense').catch(() => {})
    }
    await processAll(await batchOf(payments))
    assert.equal((await eventsOf(payments)).length, 2)
    assert.match((await callOf(id))?.exception ?? '', /swallowed an SQL error/)
  })

  test('a listener that never ends loses its own attempt; all others are processed', async () => {
    const payments = await makePayments(4)
    const { id } = payments[1] ?? assert.fail()
    handler = async (event, context) => {
      await note(event, context)
      if (event.payment.id === id) await new Promise(() => {})
    }
    const impatient = { ...processing, listenerBudget: 900 }
    const results = await processAll(await batchOf(payments), impatient)
    assert.deepEqual(results.toSorted(), ['done', 'done', 'done', 'failed'])
    assert.equal((await eventsOf(payments)).length, 3)
    assert.equal(await statusOf(id), 'paid')
    assert.match((await callOf(id))?.exception ?? '', /did not end within/)
  })

  test('a commit that one listener makes fail is an attempt of its call alone', async () => {
    const payments = await makePayments(3)
    const { id } = payments[0] ?? assert.fail()
    handler = async (event, context) => {
      await note(event, context)
      // Checked at the commit.
      if (event.payment.id === id) await context.tx.query('insert into late_rules values (1, 2)')
    }
    await processAll(await batchOf(payments))
    assert.equal((await eventsOf(payments)).length, 2)
    assert.equal(await statusOf(id), 'paid')
    for (const payment of payments) {
      assert.equal((await callOf(payment.id))?.attempts, payment.id === id ? 1 : 0)
    }
  })

  test('calls behind a slow listener do not hold it up: they keep their lease for the next transaction', async () => {
    const payments = await makePayments(4)
    handler = async (event, context) => {
      await pause(600)
      await note(event, context)
    }
    const calls = await batchOf(payments, 'success')
    const ends = await processInterpreted(calls, processing)
    assert.deepEqual(ends, ['done', 'left', 'left', 'left'])
    assert.equal((await eventsOf(payments)).length, 1)
    assert.deepEqual(await takeAll(), [], 'nobody else takes them')
    handler = note
    assert.deepEqual(await processAll(calls.slice(1)), ['done', 'done', 'done'])
    assert.equal((await eventsOf(payments)).length, 4)
    assert.equal((await notes()).length, 4)
  })

  test('a listener that ends the transaction commits no event whose listeners have not run', async () => {
    const payments = await makePayments(5)
    const { id } = payments[2] ?? assert.fail()
    const told: string[] = []
    handler = async (event, context) => {
      told.push(event.payment.id)
      await note(event, context)
      // Hidden from the check of statements.
      if (event.payment.id === id) await context.tx.client.query('select 1; commit')
    }
    await processAll(await batchOf(payments))
    const others = payments.filter((payment) => payment.id !== id).map((payment) => payment.id)
    // Its commit fails and takes back what the calls before it had done: they are told again.
    assert.deepEqual(new Set(told.filter((one) => one !== id)), new Set(others))
    assert.deepEqual((await notes()).toSorted(), others.toSorted())
    assert.equal((await eventsOf(payments)).length, 4)
    assert.equal(await statusOf(id), 'paid')
    assert.match((await callOf(id))?.exception ?? '', /a listener ended the transaction/)
    for (const other of others) assert.equal((await callOf(other))?.state, 'processed')
  })

  test('a listener that gives up its rights in the transaction is blamed for it, and no other', async () => {
    const payments = await makePayments(3)
    const { id } = payments[0] ?? assert.fail()
    handler = async (event, context) => {
      await note(event, context)
      if (event.payment.id === id) await context.tx.query('set local role pg_monitor')
    }
    await processAll(await batchOf(payments))
    assert.equal((await eventsOf(payments)).length, 2)
    assert.equal(await statusOf(id), 'paid')
    for (const payment of payments) {
      assert.equal((await callOf(payment.id))?.attempts, payment.id === id ? 1 : 0)
    }
  })

  test('what a listener leaves in the transaction costs no other call an attempt', async () => {
    const payments = await makePayments(3)
    handler = async (event, context) => {
      await context.tx.query('create temp table mine (id int) on commit drop')
      await note(event, context)
    }
    const results = await processAll(await batchOf(payments))
    assert.deepEqual(results, ['done', 'done', 'done'])
    assert.equal((await notes()).length, 3)
    for (const { id } of payments) assert.equal((await callOf(id))?.attempts, 0)
  })

  test('a setting that a listener makes does not reach the listeners of other calls', async () => {
    const payments = await makePayments(3)
    const seen: unknown[] = []
    handler = async ({ payment }, { tx }) => {
      const { rows } = await tx.query<{ tenant: string | null }>(
        `select nullif(current_setting('app.tenant', true), '') as tenant`,
      )
      seen.push(rows[0]?.tenant)
      await tx.query(`select set_config('app.tenant', $1, true)`, [payment.id])
    }
    await processAll(await batchOf(payments))
    assert.deepEqual(seen, [null, null, null])
    assert.equal((await eventsOf(payments)).length, 3)
  })

  test('a call whose lease was lost leaves the others of its batch processed', async () => {
    const payments = await makePayments(3)
    const { id } = payments[1] ?? assert.fail()
    const calls = await batchOf(payments)
    await sql`
      update billing.webhook_calls set lease_token = ${newUuid()}::uuid
      where payload::text like ${`%${id}%`}`.execute(billing.database.db)
    const results = await processAll(calls)
    assert.deepEqual(results.toSorted(), ['done', 'done', 'lost'])
    const settledIds = (await eventsOf(payments)).map((event) => event.payment_id)
    assert.equal(settledIds.length, 2)
    assert.equal(settledIds.includes(id), false)
    assert.equal(await statusOf(id), 'pending')
  })

  test('a call that failed, cost a worker its life or was returned shares its transaction with nobody', async () => {
    const spent = [{}, {}, { attempts: 1 }, { leases_lost: 1 }, { times_returned: 1 }, {}, {}]
    const payments = await makePayments(spent.length)
    // Of declines only queued listeners hear: nothing else keeps a transaction short.
    const taken = await batchOf(payments, 'failure')
    const calls = taken.map(({ call, outcomes }, index) => ({
      outcomes,
      call: { ...call, ...spent[index] },
    }))
    const processShared = createBatches(processing, 2)
    const results = await Promise.all(calls.map((one) => processShared(one)))
    assert.deepEqual([...new Set(results)], ['done'])
    const transactions = (await eventsOf(payments)).map(({ transaction }) => transaction)
    assert.equal(transactions.length, spent.length)
    const sharing = transactions.filter((one, index) => transactions.indexOf(one) !== index)
    // The other four come in one turn.
    assert.equal(sharing.length, 3)
  })

  test('two callbacks about one payment in a batch make one event', async () => {
    const [payment = assert.fail()] = await makePayments(1)
    await sendFake(billing.core, payment.id, 'success')
    await sendFake(billing.core, payment.id, 'success')
    await processAll(await takeAll())
    assert.equal((await eventsOf([payment])).length, 1)
    const { rows } = await sql<{ outcome: string }>`
      select outcome from billing.webhook_calls`.execute(billing.database.db)
    assert.deepEqual(rows.map((row) => JSON.parse(row.outcome)[0].result as string).toSorted(), [
      'applied',
      'duplicate',
    ])
  })

  test('a decline and a payment of one checkout in a batch make both events, in either order', async () => {
    for (const order of [
      ['failure', 'success'],
      ['success', 'failure'],
    ] as const) {
      const [payment = assert.fail()] = await makePayments(1)
      for (const result of order) await sendFake(billing.core, payment.id, result)
      await processAll(await takeAll())
      const types = await billing.core.events.list({ paymentId: payment.id })
      const expected = order[0] === 'failure' ? 2 : 1
      assert.equal(types.data.length, expected)
      assert.equal(await statusOf(payment.id), 'paid')
    }
  })

  test('one provider object in two callbacks of a batch pays for one payment', async () => {
    const payments = await Promise.all(
      [1, 2].map(() => newPayment(billing.core, { gateway: 'stripe', live: false })),
    )
    for (const payment of payments) {
      const object = { id: 'cs_same', payment_intent: 'pi_same' }
      await sendStripe(billing.core, sessionEvent({ payment, object }))
    }
    await processAll(await takeAll())
    const statuses = await Promise.all(payments.map(({ id }) => statusOf(id)))
    assert.deepEqual(new Set(statuses), new Set(['paid', 'pending']))
    const review = await billing.core.calls.list({ needsReview: true })
    assert.equal(review.data.length, 1)
  })

  test('a batch comes to the same as each of its calls alone', async () => {
    const outcomesOf = async (work: (calls: readonly InterpretedCall[]) => Promise<unknown>) => {
      const [paid, pending, other] = await makePayments(3)
      assert.ok(paid && pending && other)
      await sendFake(billing.core, paid.id, 'success')
      for (const one of await takeAll()) await processInterpreted([one], processing)
      const bodies: readonly [string, 'success' | 'failure'][] = [
        [paid.id, 'success'],
        [paid.id, 'failure'],
        [pending.id, 'failure'],
        [other.id, 'success'],
        [newUuid(), 'success'],
        ['no-uuid', 'success'],
      ]
      for (const [id, result] of bodies) await sendFake(billing.core, id, result)
      await work(await takeAll())
      const { rows } = await sql<object>`
        select state, outcome::text, needs_review, payment_id is null as unknown,
          awaiting is null as waits_for_nothing, attempts
        from billing.webhook_calls order by received_at, id`.execute(billing.database.db)
      await sql`delete from billing.webhook_calls`.execute(billing.database.db)
      return rows
    }
    const together = await outcomesOf(processAll)
    const alone = await outcomesOf(async (calls) => {
      for (const one of calls) await processInterpreted([one], processing)
    })
    assert.equal(together.length, 7)
    assert.deepEqual(together, alone)
  })
})
