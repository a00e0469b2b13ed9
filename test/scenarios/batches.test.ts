import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { sql } from 'kysely'
import { createNumbers } from '../../src/numbers/slots.ts'
import { assemble } from '../../src/billing/assemble.ts'
import type { EventOf } from '../../src/events/catalogue.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { ProcessingContext } from '../../src/processing/context.ts'
import { interpretCall, type InterpretedCall } from '../../src/processing/interpret-call.ts'
import { processInterpreted } from '../../src/processing/process-calls.ts'
import type { ListenerContext } from '../../src/listeners/listener.ts'
import { webhookCalls } from '../../src/queue/calls.ts'
import { takeRows } from '../../src/leases/queue-rows.ts'
import { newPayment, openBilling, sendFake, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'

type Handler = (event: EventOf<'PaymentSucceeded'>, context: ListenerContext) => unknown

/** Writes what the tests look for. */
const note: Handler = (event, { tx }) =>
  tx.query('insert into notes values ($1)', [event.payment.id])

onAnyDatabase((engine) => {
  let billing: TestBilling
  let processing: ProcessingContext
  let handler: Handler = note

  before(async () => {
    billing = await openBilling(engine, { listenerBudgetMs: 10_000 })
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
