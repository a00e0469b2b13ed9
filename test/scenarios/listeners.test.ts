import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import type { EventOf } from '../../src/events/catalogue.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { ListenerContext } from '../../src/listeners/listener.ts'
import { onAnyDatabase } from '../support/databases.ts'
import {
  newPayment,
  openBilling,
  sendFake,
  idle,
  until,
  type TestBilling,
} from '../support/billing.ts'

type Handler = (event: EventOf<'PaymentSucceeded'>, context: ListenerContext) => unknown

const nothing: Handler = () => {}

onAnyDatabase((engine) => {
  let billing: TestBilling
  let first: Handler = nothing
  let second: Handler = nothing
  let queued: (
    event: EventOf<'PaymentSucceeded'>,
    context: { idempotencyKey: string },
  ) => unknown = () => {}

  before(async () => {
    billing = await openBilling(engine, { listenerBudgetMs: 20_000 })
    const { core } = billing
    await sql`create table notes (payment_id uuid, author text)`.execute(billing.database.db)
    core.on(
      'PaymentSucceeded',
      'first',
      async (event, context) => void (await first(event, context)),
    )
    core.on(
      'PaymentSucceeded',
      'second',
      async (event, context) => void (await second(event, context)),
    )
    core.on(
      'PaymentSucceeded',
      'queued',
      async (event, context) => void (await queued(event, context)),
      { queued: true },
    )
    await core.work()
  })
  after(() => billing.close())
  afterEach(async () => {
    first = nothing
    second = nothing
    queued = () => {}
    // What a test leaves for a later retry is finished before the next one.
    await sql`update billing.webhook_calls set next_attempt_at = clock_timestamp()
      where state = 'pending'`.execute(billing.database.db)
    await idle(billing.core)
  })

  const write: (author: string) => Handler =
    (author) =>
    (event, { tx }) =>
      tx.query('insert into notes values ($1, $2)', [event.payment.id, author])
  const notesOf = async (payment: Payment) => {
    const { rows } = await sql<{ author: string }>`
      select author from notes where payment_id = ${payment.id}::uuid order by author`.execute(
      billing.database.db,
    )
    return rows.map((row) => row.author)
  }
  const statusOf = async (payment: Payment) => (await billing.core.payments.get(payment.id))?.status
  const eventsOf = async (payment: Payment) =>
    (await billing.core.events.list({ paymentId: payment.id })).data.map((event) => event.type)
  const callOf = async (payment: Payment) => {
    const id = await callIdOf(payment)
    const call = await billing.core.calls.get(id)
    assert.ok(call)
    return call
  }
  const callIdOf = async (payment: Payment) => {
    const { rows } = await sql<{ id: string }>`
      select id from billing.webhook_calls
      where payload->>'payment_id' = ${payment.id} order by id limit 1`.execute(billing.database.db)
    assert.ok(rows[0])
    return rows[0].id
  }
  /** Waits for the attempt to be recorded, and returns the call. */
  const attempted = async (payment: Payment, attempts: number) => {
    await until(async () => (await callOf(payment)).attempts === attempts, {
      what: `attempt ${attempts} is recorded`,
    })
    return callOf(payment)
  }
  const retryNow = async (payment: Payment) => {
    await sql`update billing.webhook_calls set next_attempt_at = clock_timestamp()
      where id = ${await callIdOf(payment)}::uuid and state = 'pending'`.execute(
      billing.database.db,
    )
  }
  const pay = async () => {
    const payment = await newPayment(billing.core)
    const { status } = await sendFake(billing.core, payment.id, 'success')
    assert.equal(status, 200)
    return payment
  }

  const deliveriesOf = async (payment: Payment) => {
    const { rows } = await sql<{ state: string; attempts: number; exception: string | null }>`
      select d.state, d.attempts, d.exception from billing.deliveries d
      join billing.events e on e.id = d.event_id
      where e.payment_id = ${payment.id}::uuid`.execute(billing.database.db)
    return rows
  }

  describe('Listener semantics', () => {
    test('the claim and the listeners’ writes commit together', async () => {
      first = write('first')
      second = write('second')
      const payment = await pay()
      await idle(billing.core)
      assert.deepEqual(await notesOf(payment), ['first', 'second'])
      assert.deepEqual(await eventsOf(payment), ['PaymentSucceeded'])
      assert.deepEqual((await callOf(payment)).dedupClaims, [`payment:paid:${payment.id}`])
    })

    test('a listener that throws rolls back all writes and the claim; the retry runs all', async () => {
      const keys: string[] = []
      first = write('first')
      second = (_event, { idempotencyKey }) => {
        keys.push(idempotencyKey)
        if (keys.length === 1) throw new Error('no stock')
        return undefined
      }
      const payment = await pay()
      const call = await attempted(payment, 1)
      assert.equal(await statusOf(payment), 'paid', 'the status is kept')
      assert.deepEqual(await notesOf(payment), [])
      assert.deepEqual(await eventsOf(payment), [])
      assert.equal(call.state, 'pending')
      assert.deepEqual(await deliveriesOf(payment), [], 'nothing is queued')
      await retryNow(payment)
      await idle(billing.core)
      assert.deepEqual(await notesOf(payment), ['first'])
      assert.deepEqual(await eventsOf(payment), ['PaymentSucceeded'])
      assert.deepEqual(keys, [keys[0], keys[0]], 'the idempotency key is the same at every retry')
    })
  })

  describe('The billing that a listener gets', () => {
    test('reads and creates payments in its transaction, and Kysely works on it', async () => {
      let created: Payment | undefined
      let fail = true
      first = async (event, context) => {
        assert.equal((await context.billing.payments.get(event.payment.id))?.status, 'paid')
        assert.equal(await context.billing.payments.get('no id of ours'), undefined)
        created = await context.billing.payments.create({
          gateway: 'fake',
          amount: 1,
          currency: 'USD',
          payable: { type: 'follow-up', id: event.payment.id },
        })
        await context.tx
          .withTables<{ notes: { payment_id: string; author: string } }>()
          .insertInto('notes')
          .values({ payment_id: event.payment.id, author: 'kysely' })
          .execute()
        if (fail) throw new Error('undo it')
      }
      const payment = await pay()
      await attempted(payment, 1)
      assert.ok(created)
      assert.equal(await billing.core.payments.get(created.id), undefined, 'rolled back with it')
      fail = false
      await retryNow(payment)
      await idle(billing.core)
      assert.equal((await billing.core.payments.get(created.id))?.status, 'pending')
      assert.deepEqual(await notesOf(payment), ['kysely'])
    })
  })

  test('the billing around a listener is refused within it; the payment stays paid, the attempt has failed', async () => {
    const refusal = (operation: string) =>
      new RegExp(`billing\\.payments\\.${operation} was used inside a listener`)
    first = async (event) => {
      const get = async () => billing.core.payments.get(event.payment.id)
      await assert.rejects(get, refusal('get'))
      return newPayment(billing.core)
    }
    const payment = await pay()
    const { exception } = await attempted(payment, 1)
    assert.equal(await statusOf(payment), 'paid')
    assert.match(exception ?? '', refusal('create'))
    assert.deepEqual(await eventsOf(payment), [], 'the claim is taken back')
  })

  describe('Queued listeners', () => {
    test('run after the commit, with no transaction around them', async () => {
      const seen: unknown[] = []
      queued = async (event, context) => {
        const payment = await billing.core.payments.get(event.payment.id)
        seen.push([event.type, payment?.status, payment?.events.length, context.idempotencyKey])
      }
      const payment = await pay()
      await until(async () => (await deliveriesOf(payment))[0]?.state === 'processed', {
        what: 'the delivery',
      })
      assert.deepEqual(seen, [['PaymentSucceeded', 'paid', 1, `payment:paid:${payment.id}/queued`]])
    })
  })
})
