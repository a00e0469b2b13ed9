import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { EventOf } from '../../src/events/catalogue.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { ListenerContext } from '../../src/listeners/listener.ts'
import { webhookCalls } from '../../src/queue/calls.ts'
import { expireRows } from '../../src/queue/end-rows.ts'
import { capturedLog } from '../support/captured-log.ts'
import { forEachDatabase } from '../support/databases.ts'
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

forEachDatabase((engine) => {
  let billing: TestBilling
  let first: Handler = nothing
  let second: Handler = nothing
  let queued: (
    event: EventOf<'PaymentSucceeded'>,
    context: { idempotencyKey: string },
  ) => unknown = () => {}
  const log = capturedLog()

  before(async () => {
    billing = await openBilling(engine, { log: log.log, listenerBudgetMs: 700 })
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
      await retryNow(payment)
      await idle(billing.core)
      assert.deepEqual(await notesOf(payment), ['first'])
      assert.deepEqual(await eventsOf(payment), ['PaymentSucceeded'])
      assert.deepEqual(keys, [keys[0], keys[0]], 'the idempotency key is the same at every retry')
    })

    test('a listener that always throws: 3 attempts 10 s and 60 s apart, then failed and visible; a replay fires once', async () => {
      first = () => {
        throw new Error('broken for good')
      }
      const payment = await pay()
      for (const [attempt, backoff] of [
        [1, 10],
        [2, 60],
      ] as const) {
        const call = await attempted(payment, attempt)
        assert.equal(call.state, 'pending')
        const { rows } = await sql<{ seconds: number }>`
          select extract(epoch from next_attempt_at - clock_timestamp())::float8 as seconds
          from billing.webhook_calls where id = ${call.id}::uuid`.execute(billing.database.db)
        const wait = rows[0]?.seconds ?? 0
        assert.ok(wait > backoff - 5 && wait <= backoff, `${wait} s after attempt ${attempt}`)
        await retryNow(payment)
      }
      const failed = await attempted(payment, 3)
      assert.equal(failed.state, 'failed')
      assert.match(failed.exception ?? '', /in listener first: Error: broken for good\n\s+at /)
      assert.equal(await statusOf(payment), 'paid')
      assert.deepEqual(await eventsOf(payment), [])
      assert.ok((await billing.core.calls.list({ state: 'failed' })).data.length > 0)

      first = write('first')
      await billing.core.calls.replay(failed.id)
      await idle(billing.core)
      assert.deepEqual(await notesOf(payment), ['first'])
      assert.deepEqual(await eventsOf(payment), ['PaymentSucceeded'])
      const replayed = await callOf(payment)
      assert.equal(replayed.exception, null)

      await billing.core.calls.replay(failed.id)
      await idle(billing.core)
      assert.deepEqual(await notesOf(payment), ['first'], 'claims still hold')
      assert.deepEqual(await eventsOf(payment), ['PaymentSucceeded'])
    })

    test('a long exception is cut at 16 KB', async () => {
      first = () => {
        throw new Error('x'.repeat(5_000_000))
      }
      const payment = await pay()
      const { exception } = await attempted(payment, 1)
      assert.ok(Buffer.byteLength(exception ?? '') <= 16 * 1024 + 100)
    })

    test('a duplicate that comes while the first waits for its retry dispatches; the retry finds the claim', async () => {
      let broken = true
      first = (event, context) => {
        if (broken) throw new Error('once')
        return write('first')(event, context)
      }
      const payment = await pay()
      await attempted(payment, 1)
      broken = false
      await sendFake(billing.core, payment.id, 'success')
      await until(async () => (await eventsOf(payment)).length === 1, { what: 'the event' })
      await retryNow(payment)
      await idle(billing.core)
      assert.deepEqual(await notesOf(payment), ['first'])
      assert.deepEqual((await callOf(payment)).outcome, [
        { result: 'duplicate', type: 'payment:paid' },
      ])
    })

    test('work after the commit runs once it is committed, and its failure harms nothing', async () => {
      const seen: (string | undefined)[] = []
      first = (event, { afterCommit }) => {
        afterCommit(async () => {
          seen.push(await statusOf(event.payment))
          throw new Error('mail server away')
        })
      }
      const payment = await pay()
      await idle(billing.core)
      await until(() => seen.length === 1, { what: 'the work after the commit' })
      assert.deepEqual(seen, ['paid'])
      assert.equal((await callOf(payment)).state, 'processed')
    })
  })

  describe('Listeners that misbehave', () => {
    const stolen = `update billing.webhook_calls set lease_token = gen_random_uuid()
      where state = 'processing' and payload->>'payment_id' = $1`
    const stealLease = (paymentId: string) => billing.database.pool.query(stolen, [paymentId])

    const misbehaviours: Record<string, { handler: Handler; exception: RegExp }> = {
      'commits by statement': {
        handler: (_event, { tx }) => tx.query('commit'),
        exception: /tried to end its transaction: commit/,
      },
      'rolls back through the raw client': {
        handler: (_event, { tx }) => tx.client.query('/* mine */ ROLLBACK'),
        exception: /tried to end its transaction/,
      },
      'hides a commit behind another statement': {
        handler: (_event, { tx }) => tx.client.query('select 1; commit'),
        exception: /a listener ended the transaction/,
      },
      'commits and begins another transaction': {
        handler: (_event, { tx }) => tx.client.query('select 1; commit; begin'),
        exception: /a listener ended the transaction/,
      },
      'swallows an SQL error': {
        handler: async (_event, { tx }) => {
          await tx.query('select 1/0').catch(() => {})
        },
        exception: /swallowed an SQL error/,
      },
      'uses the outer handle': {
        handler: (event) => billing.core.payments.get(event.payment.id),
        exception: /billing.payments.get was used inside a listener/,
      },
      'creates a payment with the outer handle': {
        handler: () => newPayment(billing.core),
        exception: /billing.payments.create was used inside a listener/,
      },
      hangs: {
        handler: () => pause(60_000, undefined, { ref: false }),
        exception: /listener first did not end within 0.7 s/,
      },
    }
    for (const [what, { handler, exception }] of Object.entries(misbehaviours)) {
      test(`one that ${what}: status right, event once, failure visible`, async () => {
        const others: string[] = []
        second = (event) => void others.push(event.payment.id)
        first = handler
        const payment = await pay()
        const call = await attempted(payment, 1)
        assert.equal(await statusOf(payment), 'paid')
        assert.match(call.exception ?? '', exception)
        assert.deepEqual(await eventsOf(payment), [], 'the claim is taken back')
        first = write('first')
        await retryNow(payment)
        await idle(billing.core)
        assert.deepEqual(await eventsOf(payment), ['PaymentSucceeded'])
        assert.deepEqual(await notesOf(payment), ['first'])
        assert.equal(others.at(-1), payment.id, 'every listener heard of it')
      })
    }

    test('one that does not wait for an SQL error is named for it, not the next one', async () => {
      first = (_event, { tx }) => void tx.query('select 1/0').catch(() => {})
      second = (_event, { tx }) => tx.query('select 1')
      const { exception } = await attempted(await pay(), 1)
      assert.match(exception ?? '', /^in listener first: Error: listener first swallowed/)
    })

    test('one that uses its transaction after it has ended is refused', async () => {
      let late: Promise<unknown> | undefined
      first = (_event, { tx }) => {
        late = pause(300).then(() => tx.query('select 1'))
        // It may be refused before anybody looks at it below.
        late.catch(() => {})
      }
      await pay()
      await idle(billing.core)
      await assert.rejects(async () => late, /used after the listener had ended/)
    })

    test('one that is so slow that its lease is lost commits nothing; the heir does it all', async () => {
      first = async (event, context) => {
        await write('first')(event, context)
        // As a sweeper and another worker would, from outside.
        if (engine.name === 'PostgreSQL') {
          await stealLease(event.payment.id)
        } else {
          await context.tx.query(stolen, [event.payment.id])
        }
      }
      const payment = await pay()
      await until(() => log.lines.some((line) => /lease lost/.test(String(line['msg']))), {
        what: 'the loss is noticed',
      })
      assert.deepEqual(await notesOf(payment), [])
      assert.deepEqual(await eventsOf(payment), [])
      first = write('first')
      await sql`update billing.webhook_calls set lease_until = now() - interval '1 s'
        where state = 'processing'`.execute(billing.database.db)
      await expireRows(billing.database.db, webhookCalls)
      await idle(billing.core)
      assert.deepEqual(await notesOf(payment), ['first'])
      assert.deepEqual(await eventsOf(payment), ['PaymentSucceeded'])
    })

    test('one whose own service is away uses up an attempt; a deadlock in its SQL does not', async () => {
      first = () => {
        throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
      }
      const refused = await pay()
      assert.equal((await attempted(refused, 1)).attempts, 1)

      let tries = 0
      first = async (event, context) => {
        tries += 1
        if (tries < 3) {
          await context.tx.query(`do $$ begin raise exception 'x' using errcode = '40P01'; end $$`)
        }
        await write('first')(event, context)
      }
      const payment = await pay()
      await until(async () => (await eventsOf(payment)).length === 1, { what: 'the event' })
      assert.equal(tries, 3)
      assert.equal((await callOf(payment)).attempts, 0)
      assert.deepEqual(await notesOf(payment), ['first'])
    })

    test('one whose work after the commit never ends holds up nothing', async () => {
      first = (_event, { afterCommit }) => afterCommit(() => new Promise(() => {}))
      const payments = [await pay(), await pay(), await pay()]
      for (const payment of payments) {
        await until(async () => (await callOf(payment)).state === 'processed', {
          what: 'the call is processed',
          limitMs: 30_000,
        })
      }
    })

    test('savepoints are free to use', async () => {
      first = async (event, { tx }) => {
        await tx.query('savepoint mine')
        await tx.query('select 1/0').catch(() => {})
        await tx.query('rollback to savepoint mine')
        await write('first')(event, { tx } as ListenerContext)
      }
      const payment = await pay()
      await idle(billing.core)
      assert.deepEqual(await notesOf(payment), ['first'])
    })

    test('a failing call first in the queue does not hold up later ones', async () => {
      const poison = await newPayment(billing.core)
      first = (event) => {
        if (event.payment.id === poison.id) throw new Error('poison')
      }
      await sendFake(billing.core, poison.id, 'success')
      const later = await pay()
      await until(async () => (await eventsOf(later)).length === 1, { what: 'the later event' })
      assert.equal((await attempted(poison, 1)).state, 'pending')
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

  describe('Queued listeners', () => {
    const deliveriesOf = async (payment: Payment) => {
      const { rows } = await sql<{ state: string; attempts: number; exception: string | null }>`
        select d.state, d.attempts, d.exception from billing.deliveries d
        join billing.events e on e.id = d.event_id
        where e.payment_id = ${payment.id}::uuid`.execute(billing.database.db)
      return rows
    }

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

    test('are retried by themselves, without the others, and end failed and visible', async () => {
      first = write('first')
      let tries = 0
      queued = () => {
        tries += 1
        throw new Error('the ERP is away')
      }
      const payment = await pay()
      for (const attempt of [1, 2, 3]) {
        await until(async () => (await deliveriesOf(payment))[0]?.attempts === attempt, {
          what: `delivery attempt ${attempt}`,
        })
        await sql`update billing.deliveries set next_attempt_at = clock_timestamp()
          where state = 'pending'`.execute(billing.database.db)
      }
      const [event] = (await billing.core.events.list({ paymentId: payment.id })).data
      const [delivery] = event?.deliveries ?? []
      assert.equal(delivery?.listener, 'queued')
      assert.equal(delivery.state, 'failed')
      assert.match(delivery.exception ?? '', /the ERP is away/)
      assert.equal(tries, 3)

      const delivered: string[] = []
      queued = (again) => void delivered.push(again.payment.id)
      await billing.core.calls.replay(await callIdOf(payment))
      await until(async () => (await deliveriesOf(payment))[0]?.state === 'processed', {
        what: 'a replay of the call delivers what had failed',
      })
      assert.deepEqual(delivered, [payment.id])
      assert.deepEqual(await notesOf(payment), ['first'], 'the other listeners hear it once')
    })

    test('get nothing when the transaction that queued them rolls back', async () => {
      let told = 0
      queued = () => void (told += 1)
      second = () => {
        throw new Error('not yet')
      }
      const payment = await pay()
      await attempted(payment, 1)
      assert.deepEqual(await deliveriesOf(payment), [])
      assert.equal(told, 0)
    })
  })
})
