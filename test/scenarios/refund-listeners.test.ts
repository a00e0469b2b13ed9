import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { sql } from 'kysely'
import type { EventOf } from '../../src/events/catalogue.ts'
import type { Payment } from '../../src/payments/payment.ts'
import type { ListenerContext } from '../../src/listeners/listener.ts'
import { until } from '../support/billing.ts'
import { forEachDatabase } from '../support/databases.ts'
import { openStated, subjectOf, type StatedBilling } from '../support/stated-billing.ts'
import { paid, refund, refundedTotal } from '../support/statements.ts'
import type { Statement } from '../support/stating-gateway.ts'

type Handler = (event: EventOf<'PaymentRefunded'>, context: ListenerContext) => unknown

forEachDatabase((engine) => {
  let stated: StatedBilling
  let handler: Handler = () => {}
  /** What the queued listener was told, by the id of the charge. */
  const queued: EventOf<'PaymentRefunded'>[] = []
  /** What was told and committed, in its order. */
  const told: string[] = []

  before(async () => {
    stated = await openStated(engine, {
      listen: ({ core }) => {
        core.on(
          'PaymentRefunded',
          'handler',
          async (event, context) => void (await handler(event, context)),
        )
        core.on('PaymentRefunded', 'queued', (event) => void queued.push(event), { queued: true })
        core.on(
          ['PaymentSucceeded', 'PaymentRefunded', 'PaymentMethodAttached'],
          'recorder',
          (event, { afterCommit }) => afterCommit(() => told.push(subjectOf(event))),
        )
      },
    })
  })
  afterEach(() => {
    handler = () => {}
    told.length = 0
  })
  after(() => stated.close())

  /** Fails so many times, then counts what it is told. */
  function failing(times: number, amount?: bigint) {
    const heard: bigint[] = []
    let left = times
    handler = ({ payment }) => {
      if (left > 0 && (amount === undefined || payment.amount === amount)) {
        left -= 1
        throw new Error('no stock')
      }
      heard.push(payment.amount)
    }
    return heard
  }

  /** Delivers, and waits for the first attempt to fail. */
  async function deliverFailing(statement: Statement) {
    await stated.deliver(statement)
    const [call] = (await stated.core.calls.list({ limit: 1 })).data
    assert.ok(call)
    return stated.attempted(call, 1)
  }

  const makeDue = () =>
    sql`update billing.webhook_calls set next_attempt_at = clock_timestamp()
      where state = 'pending'`.execute(stated.database.db)

  const reports: readonly [string, (payment: Payment) => Statement][] = [
    ['named refund', (payment) => refund(payment, `re_${payment.id}`)],
    ['running total', (payment) => refundedTotal(payment, 1_000n)],
  ]
  for (const [what, report] of reports) {
    test(`${what}: a listener that throws twice leaves one row; the third attempt fires once`, async () => {
      const payment = await stated.createPaid()
      const heard = failing(2)
      const call = await deliverFailing(report(payment))
      assert.deepEqual(await stated.refunds(payment), ['paid 1000'], 'the row is kept')
      assert.deepEqual(await stated.events(payment), ['PaymentSucceeded'])
      assert.equal(call.paymentId, payment.id)
      await makeDue()
      await stated.attempted(call, 2)
      await stated.retry()
      assert.deepEqual(heard, [1_000n])
      assert.deepEqual(await stated.refunds(payment), ['paid 1000'])
      assert.deepEqual(await stated.events(payment), ['PaymentSucceeded', 'PaymentRefunded'])
    })
  }

  const seconds: readonly [string, (payment: Payment, n: number) => Statement][] = [
    [
      'named refunds',
      (payment, n) => refund(payment, `re_${n}_${payment.id}`, { amount: BigInt(n) }),
    ],
    ['running totals', (payment, n) => refundedTotal(payment, n === 1_000 ? 1_000n : 1_700n)],
  ]
  for (const [what, report] of seconds) {
    test(`${what}: a second refund between the attempts of the first; each fires once`, async () => {
      const payment = await stated.createPaid()
      const heard = failing(1, 1_000n)
      await deliverFailing(report(payment, 1_000))
      await stated.deliver(report(payment, 700))
      await until(() => heard.length === 1, { what: 'the second is told' })
      await stated.retry()
      assert.deepEqual(heard, [700n, 1_000n])
      assert.deepEqual(await stated.refunds(payment), ['paid 1000', 'paid 700'])
      assert.deepEqual(await stated.events(payment), [
        'PaymentSucceeded',
        'PaymentRefunded',
        'PaymentRefunded',
      ])
    })
  }

  for (const [what, report] of reports) {
    test(`${what}: a listener that ends the transaction loses no refund; its event comes once`, async () => {
      const payment = await stated.createPaid()
      let broken = true
      const heard: bigint[] = []
      handler = async (event, { tx }) => {
        if (!broken) heard.push(event.payment.amount)
        const breaks = broken
        broken = false
        // Written so that it is not refused beforehand.
        if (breaks) await tx.client.query('select 1; commit')
      }
      const { exception } = await deliverFailing(report(payment))
      assert.match(exception ?? '', /a listener ended the transaction/)
      assert.deepEqual(await stated.refunds(payment), ['paid 1000'])
      assert.deepEqual(await stated.events(payment), ['PaymentSucceeded'])
      await stated.retry()
      assert.deepEqual(heard, [1_000n])
      assert.deepEqual(await stated.refunds(payment), ['paid 1000'])
      assert.deepEqual(await stated.events(payment), ['PaymentSucceeded', 'PaymentRefunded'])
    })
  }

  test('a listener is told in its transaction of the refund’s row, charge and payable included', async () => {
    const payment = await stated.createPaid({ payable: { type: 'order', id: 'o-7' } })
    let seen: Payment | undefined
    let status: unknown
    handler = async ({ payment: row }, { tx }) => {
      seen = row
      const { rows } = await tx.query('select status from billing.payments where id = $1', [row.id])
      status = rows[0]?.['status']
    }
    await stated.say(refund(payment, 're_seen'))
    assert.deepEqual(
      [seen?.type, seen?.parentId, seen?.amount, seen?.status, seen?.payable.id, status],
      ['refund', payment.id, 1_000n, 'paid', 'o-7', 'paid'],
    )
  })

  test('a queued listener gets the refund’s row', async () => {
    const payment = await stated.createPaid()
    await stated.say(refund(payment, 're_queued'))
    const mine = () => queued.filter((event) => event.payment.parentId === payment.id)
    await until(() => mine().length > 0, { what: 'the queued listener is told' })
    assert.deepEqual(
      mine().map(({ payment: row }) => [row.type, row.amount, row.providerReference]),
      [['refund', 1_000n, 're_queued']],
    )
  })

  test('paid, refunded and a card in one callback: one transaction, all results, all events', async () => {
    const payment = await stated.create()
    const card = `pm_${payment.id}`
    const heard = failing(1)
    const all: readonly Statement[] = [
      paid(payment),
      refund(payment, `re_${payment.id}`),
      { type: 'payment_method', status: 'attached', reference: card, payment: { id: payment.id } },
    ]
    await stated.deliver(...all)
    const [last] = (await stated.core.calls.list({ limit: 1 })).data
    assert.ok(last)
    await stated.attempted(last, 1)
    assert.deepEqual(await stated.events(payment), [], 'no claim of the callback is kept')
    assert.deepEqual(told, [])
    await stated.retry()
    const ended = await stated.core.calls.get(last.id)
    assert.deepEqual(ended?.outcome, [
      { result: 'applied', type: 'payment:paid' },
      { result: 'applied', type: 'refund:paid' },
      { result: 'applied', type: 'payment_method:attached' },
    ])
    assert.equal(ended?.dedupClaims.length, 3)
    assert.deepEqual(heard, [1_000n])
    await until(() => told.length >= 3, { what: 'all three are told' })
    const events = [
      'PaymentSucceeded 10000',
      'PaymentRefunded 1000',
      `PaymentMethodAttached ${card}`,
    ]
    assert.deepEqual(new Set(told), new Set(events))
    assert.equal(told.length, 3)
  })
})
