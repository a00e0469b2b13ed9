import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, test } from 'node:test'
import pg from 'pg'
import { sql } from 'kysely'
import { createCore } from '../../src/billing/create-core.ts'
import type { BillingEvent } from '../../src/events/catalogue.ts'
import { readNewestPayment } from '../../src/database/payments.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { ListenerContext } from '../../src/listeners/listener.ts'
import { startHutko } from '../providers/hutko.ts'
import { onBothDatabases, postgres } from '../support/databases.ts'
import { unhurried, until } from '../support/billing.ts'
import { unusual } from '../support/unusual-settings.ts'
import { handTimers, type HandTimers } from '../support/hand-timers.ts'
import { openMoney, type MoneyBilling } from './money-billing.ts'
import { ageMoves } from '../support/id-made-at.ts'

const codeOf = (error: unknown) => (isQuittanceError(error) ? error.code : String(error))
const rejectsWith = (work: Promise<unknown>, code: string) =>
  assert.rejects(work, (error) => codeOf(error) === code || assert.fail(codeOf(error)))

type Listen = (event: BillingEvent, context: ListenerContext) => unknown

onBothDatabases((engine) => {
  let billing: MoneyBilling
  let listen: Listen = () => {}
  let budget: HandTimers
  const listener = (event: BillingEvent, context: ListenerContext) => listen(event, context)
  before(async () => {
    // A listener gets no longer.
    budget = handTimers(24_999)
    // Whoever owns the database may have set anything for it: nothing here depends on that.
    const place = engine === postgres ? unusual(engine) : engine
    billing = await openMoney(place, await startHutko(), {
      listeners: { told: { on: ['PaymentSucceeded', 'PaymentRefunded'], run: listener } },
      listenerBudgetMs: budget.lengthMs,
    })
  })
  afterEach(() => {
    listen = () => {}
  })
  after(async () => {
    await billing.close()
    budget[Symbol.dispose]()
    await billing.provider.close()
  })

  const payAndLose = async () => {
    const payment = await billing.create()
    billing.provider.pay(payment.id)
    return payment
  }
  const retryDeferred = async (payment: Payment, attempts: number) => {
    await sql`update billing.deferred_events set next_attempt_at = clock_timestamp()
      where payment_id = ${payment.id}`.execute(billing.database.db)
    await billing.runtime.announce()
    await until(
      async () => {
        const { deferredEvents } = await billing.details(payment)
        return deferredEvents.every((one) => one.attempts >= attempts)
      },
      { what: `attempt ${attempts}` },
    )
  }

  describe('a listener that fails when a poll finds a payment paid', () => {
    test('leaves it paid; its event is deferred, shown, and dispatched later, once', async () => {
      const told: string[] = []
      let broken = true
      listen = (event) => {
        if (broken) throw new Error('the mail server is away')
        told.push(event.type)
      }
      const payment = await payAndLose()
      const result = await billing.core.payments.poll(payment.id)
      assert.equal(result.payment.status, 'paid')
      assert.deepEqual(await billing.events(payment), [])
      const [put, ...others] = (await billing.details(payment)).deferredEvents
      assert.deepEqual(others, [])
      assert.deepEqual([put?.type, put?.state, put?.attempts], ['PaymentSucceeded', 'pending', 1])
      assert.match(put?.exception ?? '', /in listener told: .*the mail server is away/)
      broken = false
      await retryDeferred(payment, 2)
      assert.deepEqual(told, ['PaymentSucceeded'])
      assert.deepEqual(await billing.events(payment), ['PaymentSucceeded'])
      assert.deepEqual((await billing.details(payment)).deferredEvents, [])
      await billing.deliver(billing.provider.paymentCallback(payment.id))
      assert.deepEqual(told, ['PaymentSucceeded'], 'the late callback finds it claimed')
    })

    test('three times: it has failed, and a replay of what failed dispatches it', async () => {
      let broken = true
      listen = () => {
        if (broken) throw new Error('still away')
      }
      const payment = await payAndLose()
      await billing.core.payments.poll(payment.id)
      await retryDeferred(payment, 2)
      await retryDeferred(payment, 3)
      const [failed] = (await billing.details(payment)).deferredEvents
      assert.deepEqual([failed?.state, failed?.attempts], ['failed', 3])
      broken = false
      const { replayedDeliveries } = await billing.core.calls.replayFailed({ gateway: 'hutko' })
      assert.equal(replayedDeliveries, 1)
      await until(async () => (await billing.events(payment)).length === 1, {
        what: 'it is dispatched',
      })
    })

    test('by committing on its own: the claim is taken back and dispatched again', async () => {
      let breaks = true
      listen = async (_event, { tx }) => {
        if (!breaks) return
        breaks = false
        await tx.client.query('select 1; commit').catch(() => {})
      }
      const payment = await payAndLose()
      await billing.core.payments.poll(payment.id)
      assert.equal((await billing.details(payment)).status, 'paid')
      await retryDeferred(payment, 2)
      await until(async () => (await billing.events(payment)).length === 1, {
        what: 'it is dispatched',
      })
    })

    test('by hanging: the payment is paid all the same', async () => {
      listen = () => {
        budget.strike()
        return new Promise(() => {})
      }
      const payment = await payAndLose()
      await billing.core.payments.poll(payment.id)
      assert.equal((await billing.details(payment)).status, 'paid')
      const [put] = (await billing.details(payment)).deferredEvents
      assert.match(put?.exception ?? '', /did not end within/)
    })
  })

  test('a paid payment whose event is missing is found, and dispatched', async () => {
    const payment = await billing.createPaid()
    const { db } = billing.database
    await sql`delete from billing.events where payment_id = ${payment.id}`.execute(db)
    await ageMoves(db, payment)
    assert.equal((await billing.core.reconcile()).repaired, 1)
    await until(async () => (await billing.events(payment)).length === 1, {
      what: 'it is dispatched',
    })
    assert.equal((await billing.core.reconcile()).repaired, 0)
  })

  test('inside a listener no provider is asked, and each operation says so', async () => {
    const codes: string[] = []
    listen = async (event, context) => {
      if (event.type !== 'PaymentSucceeded') return
      const { id } = event.payment
      const { core } = billing
      const input = {
        gateway: 'hutko',
        amount: 1,
        currency: 'UAH',
        payable: { type: 'order', id: '43' },
      }
      for (const work of [
        () => context.billing.payments.create(input),
        () => core.payments.poll(id),
        () => core.payments.cancel(id),
        () => core.refunds.create(id),
        () => core.reconcile(),
      ]) {
        await work().catch((error: unknown) => codes.push(codeOf(error)))
      }
    }
    await billing.createPaid()
    assert.deepEqual([...new Set(codes)], ['gateway_call_in_transaction'])
    assert.equal(codes.length, 5)
  })

  test('ten refunds at once of a third each: three are made, whoever comes first', async () => {
    const payment = await billing.createPaid()
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () => billing.core.refunds.create(payment.id, { amount: 5_025 })),
    )
    const made = results.filter(({ status }) => status === 'fulfilled')
    assert.equal(made.length, 3)
    for (const result of results) {
      if (result.status === 'rejected') assert.equal(codeOf(result.reason), 'refund_too_large')
    }
    assert.equal(billing.provider.refunds(payment.id).length, 3)
  })

  test('what is kept is read, however the database shows values', async () => {
    const { core } = billing
    const payment = await billing.createPaid()
    const [listed] = (await core.payments.list({ limit: 1 })).data
    assert.deepEqual([listed?.id, listed?.createdAt], [payment.id, payment.createdAt])
    assert.ok(Date.now() - payment.createdAt.getTime() < 3_600_000)
    assert.ok((await core.events.list()).data.length > 0)
    assert.deepEqual((await core.readiness()).problems, [])
  })

  test('a time in another style is an error, not a time that is not known', async () => {
    await billing.createPaid()
    const reading = billing.database.transaction(async ({ db }) => {
      await sql`set local datestyle to 'German'`.execute(db)
      return readNewestPayment(db)
    })
    await rejectsWith(reading, 'database_setting_unsuitable')
  })

  test('a time is read by the parser that the app has set for its type', async () => {
    const { DATE } = pg.types.builtins
    const usual = pg.types.getTypeParser(DATE, 'text')
    pg.types.setTypeParser(DATE, (text) => `day ${text}`)
    try {
      const { rows } = await billing.database.pool.query(`select date '2026-01-02' as day`)
      assert.deepEqual(rows, [{ day: 'day 2026-01-02' }])
    } finally {
      pg.types.setTypeParser(DATE, usual)
    }
  })

  test('a refund with an id is the same refund when it is asked for again', async () => {
    const payment = await billing.createPaid()
    const id = randomUUID()
    const first = await billing.core.refunds.create(payment.id, { id, amount: 100 })
    const again = await billing.core.refunds.create(payment.id, { id, amount: 100 })
    assert.deepEqual([again.id, again.amount], [first.id, first.amount])
    assert.equal(billing.provider.refunds(payment.id).length, 1)
    assert.equal((await billing.core.refunds.create(payment.id, { id })).amount, 100n)
    const others = [{ amount: 99 }, { amount: 100, reason: 'a dent' }]
    for (const content of others) {
      const again = billing.core.refunds.create(payment.id, { id, ...content })
      await rejectsWith(again, 'refund_exists')
    }
    const other = await billing.createPaid()
    await rejectsWith(billing.core.refunds.create(other.id, { id, amount: 100 }), 'refund_exists')
  })

  test('what is not paid, or not there, is not refunded', async () => {
    const payment = await billing.create()
    await rejectsWith(billing.core.refunds.create(payment.id), 'payment_not_refundable')
    await rejectsWith(billing.core.refunds.create(randomUUID()), 'payment_not_found')
    await rejectsWith(billing.core.refunds.create('x'), 'payment_not_found')
  })

  test('a poll compares money like a callback: another amount settles nothing', async () => {
    const payment = await payAndLose()
    await sql`update billing.payments set amount = 15076 where id = ${payment.id}`.execute(
      billing.database.db,
    )
    const { results, payment: after } = await billing.core.payments.poll(payment.id)
    assert.equal(after.status, 'pending')
    assert.deepEqual(
      results.map((one) => (one.result === 'ignored' ? one.reason : one.result)),
      ['amount_mismatch'],
    )
  })

  test('a payment that was never handed over is polled by hand only', async () => {
    const payment = await billing.create({ checkout: false })
    assert.deepEqual([payment.checkout, payment.handedAt], ['none', null])
    await billing.pass(payment, 2)
    const asked = () =>
      billing.provider.asked.filter(({ request }) => request.body.includes(payment.id))
    await billing.core.reconcile()
    assert.equal(asked().length, 0)
    await billing.core.payments.poll(payment.id)
    assert.equal(asked().length, 1)
    const { rows } = await sql<{ due: Date | null }>`
      select next_poll_at as due from billing.payments where id = ${payment.id}`.execute(
      billing.database.db,
    )
    assert.deepEqual(rows, [{ due: null }])
  })

  test('what cannot be done is said before anything is written', async () => {
    const { core } = billing
    await rejectsWith(billing.create({ amount: 0 }), 'payment_invalid')
    await rejectsWith(billing.create({ currency: 'JPY' }), 'payment_invalid')
    await rejectsWith(billing.create({ gateway: 'stripe' }), 'gateway_not_configured')
    await rejectsWith(billing.create({ gateway: 'nowhere' }), 'gateway_unknown')
    await rejectsWith(billing.create({ paymentMethodId: randomUUID() }), 'payment_method_unusable')
    await rejectsWith(
      billing.create({ returnUrl: 'https://elsewhere.example' }),
      'return_url_not_allowed',
    )
    await rejectsWith(core.payments.poll(randomUUID()), 'payment_not_found')
    await rejectsWith(core.payments.cancel(randomUUID()), 'payment_not_found')
    assert.ok(await billing.create({ returnUrl: 'https://pay.example.test/thanks' }))
  })

  test('a paid payment is not canceled', async () => {
    const payment = await billing.createPaid()
    await rejectsWith(billing.core.payments.cancel(payment.id), 'payment_not_cancelable')
  })

  test('browser events are dispatched once, whatever the browser does', async () => {
    const payment = await billing.create()
    await Promise.all(
      Array.from({ length: 20 }, () => billing.core.payments.signal('CheckoutReturned', payment)),
    )
    const { events, status } = await billing.details(payment)
    assert.deepEqual(
      events.map(({ type, source }) => `${type} ${source}`),
      ['CheckoutReturned browser'],
    )
    assert.equal(status, 'pending')
  })
})

test('a process that lacks a listener applies no poll: its event would reach nobody', async () => {
  const provider = await startHutko()
  const billing = await openMoney(postgres, provider, {
    listeners: { grant: { on: 'PaymentSucceeded', run: () => {} } },
  })
  const payment = await billing.create()
  provider.pay(payment.id)
  assert.ok(billing.url !== undefined)
  const lacking = createCore(
    { database: { url: billing.url }, gateways: { hutko: provider.config } },
    unhurried,
  )
  await rejectsWith(lacking.payments.poll(payment.id), 'listener_missing')
  await lacking.close()
  assert.equal((await billing.details(payment)).status, 'pending')
  await billing.close()
  await provider.close()
})
