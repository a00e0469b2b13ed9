import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { sql } from 'kysely'
import type { Gateway } from '../../src/gateways/gateway.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { createDeliver } from '../../src/processing/deliver.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { deliveries } from '../../src/queue/deliveries.ts'
import { takeRows } from '../../src/queue/take-rows.ts'
import { openBilling, sendJson, until, type TestBilling } from '../support/billing.ts'
import { forEachDatabase } from '../support/databases.ts'
import { paid, refund } from '../support/statements.ts'
import { statedCall, stating } from '../support/stating-gateway.ts'
import { opensAt, pollReply, scriptedGateway, type Script } from '../money/scripted.ts'

forEachDatabase((engine) => {
  let billing: TestBilling
  const script: Script & { interpret?: () => Promise<void> } = {}
  /** What this process's listener was told. */
  const told: string[] = []

  const gateway: Gateway = {
    ...scriptedGateway(script),
    interpret: async (...asked) => {
      await script.interpret?.()
      return stating.interpret(...asked)
    },
  }

  before(async () => {
    billing = await openBilling(engine, { extraGateways: [gateway] })
    billing.core.on(
      ['PaymentSucceeded', 'PaymentCanceled', 'PaymentRefunded', 'PaymentLinkOpened'],
      'ours',
      (event, { afterCommit }) => afterCommit(() => told.push(event.type)),
    )
  })
  afterEach(async () => {
    await newcomerLeaves()
    for (const name of Object.keys(script) as (keyof typeof script)[]) delete script[name]
    told.length = 0
  })
  after(() => billing.close())

  /** Another process registers a listener that this one lacks. */
  const newcomerComes = async () => {
    await sql`insert into billing.listeners (name, event_types, queued) values ('newcomer',
      '{PaymentSucceeded,PaymentCanceled,PaymentRefunded,PaymentLinkOpened}', false)
      on conflict do nothing`.execute(billing.database.db)
  }
  /** From here on this process has all listeners again, as that other one had before. */
  const newcomerLeaves = async () => {
    await sql`delete from billing.listeners where name = 'newcomer'`.execute(billing.database.db)
  }
  const order = {
    gateway: 'scripted',
    amount: 10_000,
    currency: 'USD',
    payable: { type: 'order', id: '42' },
  }
  const create = async () => {
    script.open = opensAt('https://pay.test')
    return billing.core.payments.create(order)
  }
  const charge = (paymentMethodId: string) =>
    billing.core.payments.create({ ...order, paymentMethodId })
  const details = async ({ id }: Pick<Payment, 'id'>) => {
    const found = await billing.core.payments.get(id)
    assert.ok(found)
    return { ...found, types: found.events.map(({ type }) => type) }
  }
  const createPaid = async () => {
    const payment = await create()
    const money = { amount: payment.amount, currency: 'USD' }
    script.poll = async () =>
      pollReply([{ type: 'payment', payment: { id: payment.id }, status: 'paid', ...money }])
    await billing.core.payments.poll(payment.id)
    assert.deepEqual(told.splice(0), ['PaymentSucceeded'])
    return payment
  }
  /** Whoever has all listeners works on what was left. */
  const workOff = async (payment: Payment, type: string) => {
    await newcomerLeaves()
    await sql`update billing.webhook_calls set next_attempt_at = clock_timestamp()
      where state = 'pending'`.execute(billing.database.db)
    const worker = await billing.core.work()
    await until(async () => (await details(payment)).types.includes(type), { what: type })
    await until(() => told.includes(type), { what: `${type} is told` })
    await worker.stop()
    assert.equal(told.filter((one) => one === type).length, 1)
  }
  const rejectsAs = (work: Promise<unknown>) => assert.rejects(work, { code: 'listener_missing' })

  test('a call that is held while a listener is registered goes back without an attempt', async () => {
    const payment = await create()
    await billing.core.receive(statedCall([paid(payment)], 'scripted'))
    script.interpret = newcomerComes
    const worker = await billing.core.work()
    assert.match(String(await worker.ended), /newcomer/)
    const { rows } = await sql`select state, attempts, leases_lost, times_returned
      from billing.webhook_calls order by id desc limit 1`.execute(billing.database.db)
    const untouched = { state: 'pending', attempts: 0, leases_lost: 0, times_returned: 0 }
    assert.deepEqual(rows, [untouched])
    const { status, types } = await details(payment)
    assert.deepEqual([status, types, told], ['pending', [], []])
    delete script.interpret
    await workOff(payment, 'PaymentSucceeded')
  })

  test('many calls at once: none is applied, all go back', async () => {
    const payments = await Promise.all(Array.from({ length: 5 }, create))
    for (const payment of payments) {
      await billing.core.receive(statedCall([paid(payment)], 'scripted'))
    }
    script.interpret = newcomerComes
    const worker = await billing.core.work()
    await worker.ended
    for (const payment of payments) {
      const { status, types } = await details(payment)
      assert.deepEqual([status, types], ['pending', []])
    }
    const { rows } = await sql`select distinct state, attempts, times_returned
      from billing.webhook_calls where state not in ('processed', 'ignored')`.execute(
      billing.database.db,
    )
    assert.deepEqual(rows, [{ state: 'pending', attempts: 0, times_returned: 0 }])
    delete script.interpret
    const [last] = payments.slice(-1)
    assert.ok(last)
    await newcomerLeaves()
    const again = await billing.core.work()
    await until(() => told.length === payments.length, { what: 'all are told' })
    await again.stop()
  })

  test('operations look first: where a listener is missing no provider is asked', async () => {
    const [payment, pending] = [await createPaid(), await create()]
    const { core } = billing
    const asked: string[] = []
    const refuse = (what: string) => () => {
      asked.push(what)
      throw new Error(what)
    }
    Object.assign(script, {
      poll: refuse('poll'),
      refund: refuse('refund'),
      closeCheckout: refuse('closeCheckout'),
    })
    await newcomerComes()
    await rejectsAs(core.payments.poll(pending.id))
    await rejectsAs(core.payments.cancel(pending.id))
    await rejectsAs(core.refunds.create(payment.id))
    await rejectsAs(core.reconcile())
    await rejectsAs(charge(newUuid()))
    assert.deepEqual(asked, [])
    assert.deepEqual((await details(payment)).refunds, [])
  })

  test('a refund that is done when a listener comes is kept, and dispatched by whoever has it', async () => {
    const payment = await createPaid()
    script.refund = async () => {
      await newcomerComes()
      return { status: 'paid', reference: 're_race' }
    }
    const refunded = await billing.core.refunds.create(payment.id)
    assert.equal(refunded.status, 'paid')
    const before = await details(payment)
    assert.deepEqual([before.types, told], [['PaymentSucceeded'], []])
    assert.deepEqual(
      before.deferredEvents.map(({ type, state, attempts }) => [type, state, attempts]),
      [['PaymentRefunded', 'pending', 0]],
    )
    await workOff(payment, 'PaymentRefunded')
  })

  test('a poll that finds a payment while a listener comes: kept, and dispatched by whoever has it', async () => {
    const payment = await create()
    const money = { amount: payment.amount, currency: 'USD' }
    script.poll = async () => {
      await newcomerComes()
      return pollReply([{ type: 'payment', payment: { id: payment.id }, status: 'paid', ...money }])
    }
    assert.equal((await billing.core.payments.poll(payment.id)).payment.status, 'paid')
    assert.deepEqual([(await details(payment)).types, told], [[], []])
    await workOff(payment, 'PaymentSucceeded')
  })

  test('a payment that is canceled while a listener comes: kept, and dispatched by whoever has it', async () => {
    const payment = await create()
    script.closeCheckout = async () => {
      await newcomerComes()
      return 'closed'
    }
    assert.equal((await billing.core.payments.cancel(payment.id)).status, 'canceled')
    assert.deepEqual([(await details(payment)).types, told], [[], []])
    await workOff(payment, 'PaymentCanceled')
  })

  test('a card that is charged while a listener comes: kept, and dispatched by whoever has it', async () => {
    const card = newUuid()
    await sql`insert into billing.payment_methods (id, gateway, status, provider_reference)
      values (${card}::uuid, 'scripted', 'attached', 'pm_race')`.execute(billing.database.db)
    script.chargeSavedCard = async ({ payment: { id, amount, currency } }) => {
      await newcomerComes()
      const paidNow = {
        type: 'payment',
        payment: { id },
        status: 'paid',
        amount,
        currency,
      } as const
      return { outcomes: [paidNow] }
    }
    const payment = await charge(card)
    assert.equal(payment.status, 'paid')
    assert.deepEqual([(await details(payment)).types, told], [[], []])
    await workOff(payment, 'PaymentSucceeded')
  })

  test('what a browser did is not claimed without a listener; the next visit dispatches it', async () => {
    const payment = await create()
    await newcomerComes()
    await billing.core.payments.signal('PaymentLinkOpened', payment)
    assert.deepEqual([(await details(payment)).types, told], [[], []])
    await newcomerLeaves()
    await billing.core.payments.signal('PaymentLinkOpened', payment)
    assert.deepEqual(
      [(await details(payment)).types, told],
      [['PaymentLinkOpened'], ['PaymentLinkOpened']],
    )
  })

  test('a deferred event that is leased when a listener comes is released, without an attempt', async () => {
    const payment = await create()
    const money = { amount: payment.amount, currency: 'USD' }
    script.poll = async () => {
      await newcomerComes()
      return pollReply([{ type: 'payment', payment: { id: payment.id }, status: 'paid', ...money }])
    }
    await billing.core.payments.poll(payment.id)
    await newcomerLeaves()
    const { processing } = await billing.runtime.entitledContext()
    const [leased] = await takeRows(billing.database.db, deliveries, {
      limit: 1,
      token: newUuid(),
      alone: false,
      listeners: processing.listeners.keys(),
    })
    assert.ok(leased)
    await newcomerComes()
    await createDeliver(processing)(leased)
    const { types, deferredEvents } = await details(payment)
    assert.deepEqual([types, told], [[], []])
    assert.deepEqual(
      deferredEvents.map(({ state, attempts }) => [state, attempts]),
      [['pending', 0]],
    )
    await workOff(payment, 'PaymentSucceeded')
  })

  test('a refund by callback waits for whoever has all listeners', async () => {
    const payment = await createPaid()
    await billing.core.receive(statedCall([refund(payment, 're_call')], 'scripted'))
    script.interpret = newcomerComes
    const worker = await billing.core.work()
    await worker.ended
    assert.deepEqual((await details(payment)).refunds, [])
    delete script.interpret
    await workOff(payment, 'PaymentRefunded')
  })
})

forEachDatabase((engine) => {
  test('sync: a callback is answered 503 while a listener is missing, and applied in the end', async () => {
    const told: string[] = []
    await using billing = await openBilling(engine, {
      billing: { queue: { connection: 'sync' } },
      listeners: {
        ours: { on: 'PaymentSucceeded', run: ({ payment }) => void told.push(payment.id) },
      },
    })
    const { core, database } = billing
    const payment = await core.payments.create({
      gateway: 'fake',
      amount: 1999,
      currency: 'USD',
      payable: { type: 'order', id: '42' },
    })
    const send = () => sendJson(core, 'fake', { payment_id: payment.id, result: 'success' })
    await sql`insert into billing.listeners (name, event_types, queued)
      values ('newcomer', '{PaymentSucceeded}', false)`.execute(database.db)
    const answer = await send()
    assert.equal(answer.status, 503)
    assert.ok(answer.headers['retry-after'])
    const before = await core.payments.get(payment.id)
    assert.deepEqual([before?.status, before?.events, told], ['pending', [], []])
    const [call] = (await core.calls.list({ state: 'pending' })).data
    assert.equal(call?.attempts, 0)
    await sql`delete from billing.listeners where name = 'newcomer'`.execute(database.db)
    assert.equal((await send()).status, 200)
    const worker = await core.work()
    await until(async () => (await core.calls.list({ state: 'pending' })).data.length === 0, {
      what: 'the first one is processed, too',
    })
    await worker.stop()
    assert.deepEqual(told, [payment.id])
  })
})
