import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { sql } from 'kysely'
import { createCore } from '../../src/billing/create-core.ts'
import type { EventOf } from '../../src/events/catalogue.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { until } from '../support/billing.ts'
import { forEachDatabase, onPostgres } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid } from '../support/statements.ts'
import type { Statement } from '../support/stating-gateway.ts'
import { openScripted, pollReply, type Script } from '../money/scripted.ts'

type Failure = EventOf<'PaymentFailed'> | EventOf<'PaymentCanceled'>

forEachDatabase((engine) => {
  let stated: StatedBilling
  let script: Script
  /** Who was told what, once it was committed. */
  const told: string[] = []
  let broken = false

  before(async () => {
    const opened = await openScripted(engine, {
      listen: ({ core }) => {
        const tell = (who: string) => (event: Failure) =>
          void told.push(`${who} ${event.type} ${event.payment.status} ${event.superseded}`)
        const types = ['PaymentFailed', 'PaymentCanceled'] as const
        core.on(types, 'downgrade', (event, { afterCommit }) => {
          if (broken) throw new Error('the shop is closed')
          afterCommit(() => tell('downgrade')(event))
        })
        core.on(
          types,
          'ledger',
          (event, { afterCommit }) => {
            if (broken) throw new Error('the shop is closed')
            afterCommit(() => tell('ledger')(event))
          },
          { superseded: true },
        )
        core.on(types, 'mail', tell('mail'), { queued: true })
        core.on(types, 'report', tell('report'), { queued: true, superseded: true })
      },
    })
    stated = opened.billing
    script = opened.script
  })
  afterEach(() => {
    broken = false
    told.length = 0
  })
  after(() => stated.close())

  const tried = (payment: Payment, reference: string): Statement => ({
    type: 'payment',
    payment: { id: payment.id },
    status: 'failed',
    providerReference: reference,
  })
  const paidBy = (payment: Payment, reference: string): Statement => ({
    ...paid(payment),
    providerReference: reference,
  })
  const everybody = ['downgrade', 'ledger', 'mail', 'report']
  /** The decline's listeners fail; then the same checkout is paid. */
  const declineThenPay = async (statement?: Statement) => {
    const payment = await stated.create()
    broken = true
    await stated.deliver(statement ?? tried(payment, 'ch_declined'))
    const [declined] = (await stated.core.calls.list({ limit: 1 })).data
    assert.ok(declined)
    await stated.attempted(declined, 1)
    broken = false
    await stated.deliver(paidBy(payment, `ch_paid_${payment.id}`))
    await until(async () => (await stated.details(payment)).status === 'paid', { what: 'paid' })
    return { payment, declined }
  }
  const recorded = async (payment: Payment) =>
    (await stated.details(payment)).events.map(({ type, superseded }) => [type, superseded])
  const both = [
    ['PaymentSucceeded', false],
    ['PaymentFailed', true],
  ]
  const toldOf = async () => {
    await until(() => told.length >= 2, { what: 'both are told' })
    return told.toSorted()
  }

  test('a decline that is paid before its retry is recorded as superseded, for whoever asked for it', async () => {
    const { payment, declined } = await declineThenPay()
    await stated.retry()
    assert.deepEqual(await recorded(payment), both)
    assert.deepEqual(await toldOf(), [
      'ledger PaymentFailed paid true',
      'report PaymentFailed paid true',
    ])
    const { events } = await stated.details(payment)
    assert.deepEqual(
      events.map(({ deliveries }) => deliveries.map(({ listener }) => listener)),
      [[], ['report']],
    )
    const ended = await stated.core.calls.get(declined.id)
    assert.equal(ended?.state, 'processed')
    assert.deepEqual(ended.outcome, [
      { result: 'applied', type: 'payment:failed', detail: 'superseded' },
    ])
    assert.deepEqual(ended.dedupClaims, [`payment:failed:${payment.id}`])
    assert.equal((await stated.details(payment)).status, 'paid')

    await stated.core.calls.replay(declined.id)
    await stated.retry()
    assert.deepEqual((await stated.core.calls.get(declined.id))?.outcome, [
      { result: 'duplicate', type: 'payment:failed' },
    ])
    assert.equal(told.length, 2)
    assert.deepEqual(await recorded(payment), both)
  })

  test('its listeners are retried like any others, and hear of it once', async () => {
    const { payment, declined } = await declineThenPay()
    broken = true
    await sql`update billing.webhook_calls set next_attempt_at = clock_timestamp()
      where id = ${declined.id}::uuid`.execute(stated.database.db)
    await stated.attempted(declined, 2)
    assert.deepEqual(await recorded(payment), both.slice(0, 1))
    broken = false
    await stated.retry()
    assert.deepEqual(await recorded(payment), both)
    assert.equal((await toldOf()).length, 2)
  })

  test('an event of a decline that was dispatched in time is not superseded by a payment', async () => {
    const payment = await stated.create()
    await stated.say(tried(payment, 'ch_1'))
    await stated.say(paidBy(payment, `ch_2_${payment.id}`))
    assert.deepEqual(await recorded(payment), [
      ['PaymentFailed', false],
      ['PaymentSucceeded', false],
    ])
    await until(() => told.length >= 4, { what: 'all four are told' })
    assert.deepEqual(new Set(told.map((text) => text.split(' ')[0])), new Set(everybody))
  })

  test('a decline of which nothing was applied is only ignored, whatever its call did else', async () => {
    const payment = await stated.create()
    const call = await stated.say(paid(payment), tried(payment, 'ch_late'))
    const late = await stated.say(tried(payment, 'ch_later'))
    assert.deepEqual(stated.resultsOf(call), ['applied', 'already_paid'])
    assert.deepEqual(stated.resultsOf(late), ['already_paid'])
    await stated.core.calls.replay(call.id)
    await stated.retry()
    const replayed = await stated.core.calls.get(call.id)
    assert.ok(replayed)
    assert.deepEqual(stated.resultsOf(replayed), ['duplicate', 'already_paid'])
    assert.deepEqual(await recorded(payment), [['PaymentSucceeded', false]])
  })

  test('a decline that a poll found, paid before its event is dispatched, is recorded, too', async () => {
    script.open = async () => ({ url: 'https://pay.test' })
    script.closeCheckout = async () => 'closed'
    const payment = await stated.create({ gateway: 'scripted', checkout: true })
    script.poll = async () =>
      pollReply([{ type: 'payment', payment: { id: payment.id }, status: 'canceled' }])
    broken = true
    await stated.core.payments.poll(payment.id)
    broken = false
    assert.deepEqual(await recorded(payment), [])
    await stated.sayBy('scripted', paid(payment))
    const deferredEvents = async () => (await stated.details(payment)).deferredEvents
    assert.deepEqual(
      (await deferredEvents()).map(({ type, attempts }) => [type, attempts]),
      [['PaymentCanceled', 1]],
    )
    await sql`update billing.deliveries set next_attempt_at = clock_timestamp()
      where state = 'pending'`.execute(stated.database.db)
    await until(async () => (await deferredEvents()).length === 0, { what: 'it is dispatched' })
    assert.deepEqual(await recorded(payment), [
      ['PaymentSucceeded', false],
      ['PaymentCanceled', true],
    ])
    assert.deepEqual(await toldOf(), [
      'ledger PaymentCanceled paid true',
      'report PaymentCanceled paid true',
    ])
  })
})

onPostgres((engine) => {
  test('a process whose listener does not hear of superseded events leaves them to one that does, until that is forgotten', async () => {
    await using stated = await openStated(engine, {
      listeners: {
        ledger: { on: 'PaymentFailed', superseded: true, run: () => {} },
      },
    })
    assert.ok(stated.url !== undefined)
    const older = createCore({
      database: { url: stated.url },
      listeners: { ledger: { on: 'PaymentFailed', run: () => {} } },
    })
    await assert.rejects(older.work(), {
      code: 'listener_missing',
      message: /ledger \(PaymentFailed:superseded\)/,
    })
    const listed = async () =>
      (await older.listeners.list()).map(({ eventTypes, present }) => [eventTypes, present])
    assert.deepEqual(await listed(), [[['PaymentFailed', 'PaymentFailed:superseded'], false]])
    await older.listeners.forget('ledger')
    await older.work()
    assert.deepEqual(await listed(), [[['PaymentFailed'], true]])
    await older.close()
  })
})
