import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { requeueCallsWithPayment } from '../../src/outcomes/awaiting.ts'
import type { WebhookCall } from '../../src/events/webhook-call.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { idle } from '../support/billing.ts'
import { forEachDatabase } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid, refund, refundedTotal } from '../support/statements.ts'
import { statedCall, type Statement } from '../support/stating-gateway.ts'

forEachDatabase((engine) => {
  let stated: StatedBilling
  before(async () => {
    stated = await openStated(engine)
  })
  after(() => stated.close())

  const onceRefunded = ['PaymentSucceeded', 'PaymentRefunded']
  const transitionsOf = async (id: string) => {
    const { rows } = await sql<{ change: string }>`
      select payment_type || ': ' || from_status || ' -> ' || to_status as change
      from billing.payment_transitions where payment_id = ${id}::uuid order by id`.execute(
      stated.database.db,
    )
    return rows.map(({ change }) => change)
  }
  /** As a refund operation writes it before it asks the provider. */
  const ownPending = async ({ id }: Payment, amount: bigint) => {
    const refundId = randomUUID()
    await sql`
      insert into billing.payments (id, type, parent_id, gateway, amount, currency, payable_type,
        payable_id)
      select ${refundId}::uuid, 'refund', id, gateway, ${amount}, currency, payable_type, payable_id
      from billing.payments where id = ${id}::uuid`.execute(stated.database.db)
    return refundId
  }

  test('a full refund makes a row of its own, fires PaymentRefunded and leaves the charge paid', async () => {
    const payment = await stated.createPaid()
    const call = await stated.say(refund(payment, 're_full', { amount: 10_000n }))
    const { status, refunds, events, transitions } = await stated.details(payment)
    assert.equal(status, 'paid')
    assert.deepEqual(
      transitions.map(({ to }) => to),
      ['paid'],
    )
    const [row] = refunds
    assert.equal(refunds.length, 1)
    assert.deepEqual(
      [row?.type, row?.parentId, row?.status, row?.amount, row?.providerReference, row?.payable],
      ['refund', payment.id, 'paid', 10_000n, 're_full', payment.payable],
    )
    assert.deepEqual(
      events.map(({ type, paymentId, dedupKey }) => [type, paymentId, dedupKey]),
      [
        ['PaymentSucceeded', payment.id, `payment:paid:${payment.id}`],
        ['PaymentRefunded', row?.id, `refund:paid:${row?.id}`],
      ],
    )
    assert.deepEqual(
      [call.state, call.paymentId, call.needsReview],
      ['processed', payment.id, false],
    )
    assert.deepEqual(call.outcome, [{ result: 'applied', type: 'refund:paid' }])
    assert.deepEqual(await transitionsOf(row?.id ?? ''), ['refund: pending -> paid'])
  })

  test('two partial refunds, named one by one: two rows and two events', async () => {
    const payment = await stated.createPaid()
    await stated.say(refund(payment, 're_p1', { amount: 3_000n }))
    await stated.say(refund(payment, 're_p2', { amount: 2_000n }))
    assert.deepEqual(await stated.refunds(payment), ['paid 3000', 'paid 2000'])
    assert.deepEqual(await stated.events(payment), [...onceRefunded, 'PaymentRefunded'])
  })

  test('two partial refunds, reported as running totals: the same rows and events', async () => {
    const payment = await stated.createPaid()
    await stated.say(refundedTotal(payment, 3_000n))
    await stated.say(refundedTotal(payment, 5_000n))
    assert.deepEqual(await stated.refunds(payment), ['paid 3000', 'paid 2000'])
    assert.deepEqual(await stated.events(payment), [...onceRefunded, 'PaymentRefunded'])
  })

  test('running totals out of order and repeated add nothing', async () => {
    const payment = await stated.createPaid()
    await stated.say(refundedTotal(payment, 5_000n))
    for (const total of [3_000n, 5_000n, 3_000n]) {
      const call = await stated.say(refundedTotal(payment, total))
      assert.deepEqual(stated.resultsOf(call), ['duplicate'])
    }
    assert.deepEqual(await stated.refunds(payment), ['paid 5000'])
    assert.deepEqual(await stated.events(payment), onceRefunded)
  })

  const release = ({ id, amount, currency }: Payment): Statement => {
    const about = { type: 'payment', payment: { id }, status: 'canceled' } as const
    return { ...about, amount, currency, ifPaid: 'refunded' }
  }

  test('money that is let go, of a payment that is paid, went back whole: one refund, once', async () => {
    const payment = await stated.createPaid()
    for (const results of [['applied'], ['duplicate']]) {
      const call = await stated.say(release(payment))
      assert.deepEqual([stated.resultsOf(call), call.needsReview], [results, false])
    }
    assert.equal((await stated.details(payment)).status, 'paid')
    assert.deepEqual(await stated.refunds(payment), ['paid 10000'])
    assert.deepEqual(await stated.events(payment), onceRefunded)
  })

  test('what was refunded before counts, and what does not fit is shown to a person', async () => {
    const partly = await stated.createPaid()
    await stated.say(refund(partly, 're_before', { amount: 4_000n }))
    await stated.say(release(partly))
    assert.deepEqual(await stated.refunds(partly), ['paid 4000', 'paid 6000'])
    const other = await stated.createPaid()
    const call = await stated.say({ ...release(other), currency: 'EUR' })
    assert.deepEqual([stated.resultsOf(call), call.needsReview], [['amount_mismatch'], true])
    assert.deepEqual(await stated.refunds(other), [])
  })

  test('where it is not certain that it was this money, the payment stays and a person looks', async () => {
    const payment = await stated.createPaid()
    const call = await stated.say({ ...release(payment), ifPaid: 'review' })
    assert.deepEqual([stated.resultsOf(call), call.needsReview], [['already_paid'], true])
    assert.deepEqual(await stated.refunds(payment), [])
    assert.deepEqual(await stated.events(payment), ['PaymentSucceeded'])
  })

  test('money that is let go, of a payment that was never paid, cancels it', async () => {
    const payment = await stated.create()
    await stated.say(release(payment))
    assert.equal((await stated.details(payment)).status, 'canceled')
    assert.deepEqual(await stated.refunds(payment), [])
    assert.deepEqual(await stated.events(payment), ['PaymentCanceled'])
  })

  test('the same, reported before the payment: that is paid, and the release is looked at again', async () => {
    const payment = await stated.create()
    const call = await stated.say(release(payment))
    const other = await stated.create()
    const uncertain = await stated.say({ ...release(other), ifPaid: 'review' })
    const ended = await stated.create()
    const end = await stated.say({ ...release(ended), ifPaid: undefined })
    for (const one of [payment, other, ended]) await stated.say(paid(one))
    await stated.retry()
    const [again, flagged, settledOnce] = [
      await stated.core.calls.get(call.id),
      await stated.core.calls.get(uncertain.id),
      await stated.core.calls.get(end.id),
    ]
    assert.ok(again && flagged && settledOnce)
    assert.deepEqual(
      [stated.resultsOf(again), again.needsReview],
      [['duplicate', 'applied'], false],
    )
    assert.deepEqual([stated.resultsOf(flagged), flagged.needsReview], [['duplicate'], true])
    assert.deepEqual(await stated.refunds(payment), ['paid 10000'])
    assert.deepEqual(await stated.events(payment), ['PaymentCanceled', ...onceRefunded])
    assert.deepEqual(await stated.refunds(other), [])
    assert.deepEqual(stated.resultsOf(settledOnce), ['applied'])
  })

  for (const [what, status] of [
    ['declined before', 'failed'],
    ['canceled before', 'canceled'],
  ] as const) {
    test(`a release of what was ${what} is looked at again, too, once that is paid`, async () => {
      const [sure, unsure] = [await stated.create(), await stated.create()]
      const ended = (payment: Payment) => ({ ...release(payment), status, ifPaid: undefined })
      await stated.say(ended(sure), ended(unsure))
      await stated.say(release(sure))
      const { id } = await stated.say({ ...release(unsure), ifPaid: 'review' })
      for (const payment of [sure, unsure]) await stated.say(paid(payment))
      await stated.retry()
      assert.deepEqual(await stated.refunds(sure), ['paid 10000'])
      assert.deepEqual(await stated.refunds(unsure), [])
      assert.equal((await stated.core.calls.get(id))?.needsReview, true)
    })
  }

  test('a release that is not certain, told together with the payment, is shown to a person', async () => {
    for (const status of ['pending', 'failed']) {
      const payment = await stated.create()
      if (status === 'failed') await stated.say({ ...release(payment), status, ifPaid: undefined })
      const call = await stated.say({ ...release(payment), ifPaid: 'review' }, paid(payment))
      assert.equal((await stated.details(payment)).status, 'paid')
      assert.equal(call.needsReview, true, `of what was ${status}`)
    }
  })

  test('a release and the payment in one callback, or at once: paid, and gone', async () => {
    const together = await stated.create()
    await stated.say(release(together), paid(together))
    const atOnce = await stated.create()
    await Promise.all([stated.deliver(release(atOnce)), stated.deliver(paid(atOnce))])
    await stated.retry()
    const declined = await stated.create()
    await stated.say({ ...release(declined), status: 'failed', ifPaid: undefined })
    await stated.say(release(declined), paid(declined))
    for (const payment of [together, atOnce, declined]) {
      assert.equal((await stated.details(payment)).status, 'paid')
      assert.deepEqual(await stated.refunds(payment), ['paid 10000'])
    }
  })

  test('an old report pays what was canceled: counted, and a person looks, also when it is tried again', async () => {
    const doubtful = (payment: Payment): Statement => ({ ...paid(payment), ifCanceled: 'review' })
    const [payment, fresh] = [await stated.create(), await stated.create()]
    await stated.say({ ...release(payment), ifPaid: undefined })
    const marksOf = ({ outcome, needsReview }: WebhookCall) => [
      outcome?.[0]?.result,
      outcome?.[0]?.detail,
      needsReview,
    ]
    const late = await stated.say(doubtful(payment))
    assert.deepEqual(marksOf(late), ['applied', 'paid_after_cancel', true])
    await stated.core.calls.replay(late.id)
    await stated.retry()
    const again = await stated.core.calls.get(late.id)
    assert.deepEqual(again && marksOf(again), ['duplicate', 'paid_after_cancel', true])
    // Whoever has a copy fills no list by sending it on and on.
    assert.deepEqual(marksOf(await stated.say(doubtful(payment))), ['duplicate', undefined, false])
    for (const result of ['applied', 'duplicate']) {
      assert.deepEqual(marksOf(await stated.say(doubtful(fresh))), [result, undefined, false])
    }
    const together = await stated.create()
    const both = await stated.say({ ...release(together), ifPaid: undefined }, doubtful(together))
    assert.deepEqual([both.outcome?.[1]?.detail, both.needsReview], ['paid_after_cancel', true])
  })

  test('a running total of nothing is no refund', async () => {
    const payment = await stated.createPaid()
    const call = await stated.say(refundedTotal(payment, 0n))
    assert.deepEqual(stated.resultsOf(call), ['no_outcome'])
    assert.equal(call.needsReview, false)
    assert.deepEqual(await stated.refunds(payment), [])
  })

  test('the same refund reported three times, twice of it at once, and replayed: one row, one event', async () => {
    const payment = await stated.createPaid()
    const report = refund(payment, 're_again')
    await Promise.all([1, 2].map(() => stated.core.receive(statedCall([report]))))
    await idle(stated.core)
    const call = await stated.say(report)
    assert.deepEqual(stated.resultsOf(call), ['duplicate'])
    await stated.core.calls.replay(call.id)
    await idle(stated.core)
    assert.deepEqual(await stated.refunds(payment), ['paid 1000'])
    assert.deepEqual(await stated.events(payment), onceRefunded)
  })

  test('a pending refund has its row; the event comes when it is paid', async () => {
    const payment = await stated.createPaid()
    const call = await stated.say(refund(payment, 're_slow', { status: 'pending' }))
    assert.deepEqual(call.outcome, [{ result: 'applied', type: 'refund:pending' }])
    assert.deepEqual(await stated.refunds(payment), ['pending 1000'])
    assert.deepEqual(await stated.events(payment), ['PaymentSucceeded'])
    await stated.say(refund(payment, 're_slow'))
    assert.deepEqual(await stated.refunds(payment), ['paid 1000'])
    assert.deepEqual(await stated.events(payment), onceRefunded)
    const late = await stated.say(refund(payment, 're_slow', { status: 'pending' }))
    assert.deepEqual([stated.resultsOf(late), late.needsReview], [['already_settled'], false])
    assert.deepEqual(await stated.refunds(payment), ['paid 1000'])
  })

  for (const end of ['failed', 'canceled']) {
    test(`a pending refund that ends ${end} fires nothing; told as paid later, a person looks`, async () => {
      const payment = await stated.createPaid()
      const reference = `re_${end}`
      await stated.say(refund(payment, reference, { status: 'pending' }))
      await stated.say(refund(payment, reference, { status: end }))
      const late = await stated.say(refund(payment, reference))
      assert.deepEqual([stated.resultsOf(late), late.needsReview], [['already_settled'], true])
      assert.deepEqual(await stated.refunds(payment), [`${end} 1000`])
      assert.deepEqual(await stated.events(payment), ['PaymentSucceeded'])
    })
  }

  test('a refund that is returned: the row fails, no event, the charge stays paid, a person looks', async () => {
    const payment = await stated.createPaid()
    await stated.say(refund(payment, 're_back'))
    for (const result of ['applied', 'duplicate']) {
      const call = await stated.say(refund(payment, 're_back', { status: 'failed' }))
      assert.equal(call.needsReview, true)
      assert.deepEqual(call.outcome, [{ result, type: 'refund:failed', detail: 'refund_returned' }])
    }
    const { status, refunds } = await stated.details(payment)
    assert.equal(status, 'paid')
    assert.deepEqual(await stated.refunds(payment), ['failed 1000'])
    assert.deepEqual(await stated.events(payment), onceRefunded)
    assert.deepEqual(await transitionsOf(refunds[0]?.id ?? ''), [
      'refund: pending -> paid',
      'refund: paid -> failed',
    ])
    const canceled = await stated.say(refund(payment, 're_back', { status: 'canceled' }))
    assert.deepEqual(stated.resultsOf(canceled), ['already_settled'])
  })

  test('more refunded than charged: recorded as reported, and shown to a person', async () => {
    const payment = await stated.createPaid()
    await stated.say(refund(payment, 're_most', { amount: 9_000n }))
    const call = await stated.say(refund(payment, 're_over', { amount: 2_000n }))
    assert.deepEqual(call.outcome, [
      { result: 'applied', type: 'refund:paid', detail: 'over_refund' },
    ])
    assert.equal(call.needsReview, true)
    assert.deepEqual(await stated.refunds(payment), ['paid 9000', 'paid 2000'])
    assert.ok(stated.lines.some((line) => line['call'] === call.id && line['level'] === 40))
    const total = await stated.createPaid()
    assert.equal((await stated.say(refundedTotal(total, 10_001n))).needsReview, true)
    assert.deepEqual(await stated.refunds(total), ['paid 10001'])
  })

  test('a refund before its charge is paid leaves the charge alone; the payment settles it once', async () => {
    const payment = await stated.create()
    const early = await stated.say(refund(payment, 're_early'))
    assert.equal((await stated.details(payment)).status, 'pending')
    assert.deepEqual(early.outcome, [
      { result: 'applied', type: 'refund:paid', detail: 'refund_of_unpaid' },
    ])
    assert.equal(early.needsReview, true)
    await stated.say(paid(payment))
    await stated.core.calls.replay(early.id)
    await idle(stated.core)
    const replayed = await stated.core.calls.get(early.id)
    assert.deepEqual(replayed?.outcome, [{ result: 'duplicate', type: 'refund:paid' }])
    assert.equal(replayed?.needsReview, false, 'it fits now')
    await stated.say(paid(payment))
    assert.equal((await stated.details(payment)).status, 'paid')
    assert.deepEqual(await stated.events(payment), ['PaymentRefunded', 'PaymentSucceeded'])
  })

  for (const status of ['failed', 'canceled'] as const) {
    test(`money that goes back for what has ${status} fires its event, and a person looks`, async () => {
      const payment = await stated.create()
      await stated.say({ type: 'payment', payment: { id: payment.id }, status })
      const pending = await stated.say(refund(payment, `re_of_${status}`, { status: 'pending' }))
      assert.equal(pending.needsReview, false, 'nothing has gone back')
      for (const result of ['applied', 'duplicate']) {
        const call = await stated.say(refund(payment, `re_of_${status}`))
        assert.deepEqual(
          [call.needsReview, call.outcome],
          [true, [{ result, type: 'refund:paid', detail: 'refund_of_unpaid' }]],
        )
      }
      assert.deepEqual(await stated.refunds(payment), ['paid 1000'])
      assert.equal((await stated.details(payment)).status, status)
    })
  }

  test('a refund that is reported as canceled after it was paid changes nothing, and a person looks', async () => {
    const payment = await stated.createPaid()
    await stated.say(refund(payment, 're_contradicted'))
    const call = await stated.say(refund(payment, 're_contradicted', { status: 'canceled' }))
    assert.deepEqual([stated.resultsOf(call), call.needsReview], [['already_settled'], true])
    assert.deepEqual(await stated.refunds(payment), ['paid 1000'])
  })

  for (const [what, reference, input] of [
    ['id', (id: string) => ({ id }), () => ({})],
    [
      'checkout reference',
      (id: string) => ({ checkoutReference: `cs_${id}` }),
      (id: string) => ({ checkoutReference: `cs_${id}` }),
    ],
    [
      'provider reference',
      (id: string) => ({ providerReference: `pi_${id}` }),
      (id: string) => ({ providerReference: `pi_${id}` }),
    ],
  ] as const) {
    test(`a refund of an unknown payment waits until one with its ${what} is created`, async () => {
      const id = randomUUID()
      const early = { id, currency: 'USD' }
      const call = await stated.say(refund(early, `re_${id}`, { payment: reference(id) }))
      assert.deepEqual([call.state, stated.resultsOf(call)], ['ignored', ['unknown_payment']])
      const payment = await stated.create({ id, ...input(id) })
      await idle(stated.core)
      assert.deepEqual(await stated.refunds(payment), ['paid 1000'])
      assert.deepEqual(await stated.events(payment), ['PaymentRefunded'])
    })
  }

  test('a refund that names a charge by an id which its payment gets later is found by the sweeper', async () => {
    const payment = await stated.create()
    const providerReference = `pi_late_${payment.id}`
    await stated.say(refund(payment, 're_late', { payment: { providerReference } }))
    await stated.say({ ...paid(payment), providerReference })
    await requeueCallsWithPayment(stated.database.db)
    await idle(stated.core)
    assert.deepEqual(await stated.events(payment), onceRefunded)
    assert.equal((await requeueCallsWithPayment(stated.database.db)).length, 0)
  })

  for (const [what, input, fields, reason] of [
    ['merchant account', { merchantAccount: 'a' }, { merchantAccount: 'b' }, 'merchant_mismatch'],
    ['mode', { live: true }, { live: false }, 'mode_mismatch'],
    [
      'charge',
      { providerReference: 'pi_own' },
      { providerReference: 'pi_second' },
      'provider_reference_mismatch',
    ],
    ['currency', {}, { currency: 'UAH' }, 'amount_mismatch'],
    ['currency (none)', {}, { currency: undefined }, 'amount_mismatch'],
    ['amount (none)', {}, { amount: undefined }, 'amount_mismatch'],
    ['amount (zero)', {}, { amount: 0n }, 'amount_mismatch'],
    ['amount (negative)', {}, { amount: -1n }, 'amount_mismatch'],
  ] as const) {
    test(`a refund with another ${what} is ignored: ${reason}, for review`, async () => {
      const payment = await stated.create(input)
      const call = await stated.say(refund(payment, `re_${what}`, fields))
      assert.deepEqual([stated.resultsOf(call), call.needsReview], [[reason], true])
      assert.deepEqual(await stated.refunds(payment), [])
    })
  }

  test('a refund by another gateway is ignored, and so is one of a refund', async () => {
    const payment = await stated.createPaid()
    const foreign = await stated.sayBy('echoing', refund(payment, 're_foreign'))
    assert.deepEqual([stated.resultsOf(foreign), foreign.needsReview], [['gateway_mismatch'], true])
    await stated.say(refund(payment, 're_own'))
    const [row] = (await stated.details(payment)).refunds
    assert.ok(row)
    assert.deepEqual(stated.resultsOf(await stated.say(refund(row, 're_of_refund'))), [
      'invalid_reference',
    ])
    assert.deepEqual(stated.resultsOf(await stated.say(paid(row))), ['invalid_reference'])
    assert.deepEqual(await stated.refunds(payment), ['paid 1000'])
  })

  test('one refund of the provider’s belongs to one charge', async () => {
    const [first, second] = [await stated.createPaid(), await stated.createPaid()]
    await stated.say(refund(first, 're_shared'))
    const call = await stated.say(refund(second, 're_shared'))
    assert.deepEqual(
      [stated.resultsOf(call), call.needsReview],
      [['provider_reference_taken'], true],
    )
    assert.deepEqual(await stated.refunds(second), [])
    const amount = await stated.say(refund(first, 're_shared', { amount: 999n }))
    assert.deepEqual(stated.resultsOf(amount), ['amount_mismatch'])
    assert.deepEqual(await stated.refunds(first), ['paid 1000'])
  })

  for (const [what, report] of [
    ['the id that we gave', (of: Payment, id: string) => refund(of, `re_${id}`, { refundId: id })],
    [
      'the id that we gave, without an amount',
      (of: Payment, id: string) => refund(of, `re_${id}`, { refundId: id, amount: undefined }),
    ],
    ['an equal amount', (of: Payment, id: string) => refund(of, `re_${id}`)],
    ['the difference of a running total', (of: Payment) => refundedTotal(of, 1_500n)],
  ] as const) {
    test(`a pending refund of our own is found by ${what}`, async () => {
      const payment = await stated.createPaid()
      await stated.say(refund(payment, `re_before_${payment.id}`, { amount: 500n }))
      const refundId = await ownPending(payment, 1_000n)
      await stated.say(report(payment, refundId))
      await stated.say(report(payment, refundId))
      assert.deepEqual(await stated.refunds(payment), ['paid 500', 'paid 1000'])
      assert.equal((await stated.details(payment)).refunds[1]?.id, refundId)
      assert.deepEqual(await stated.events(payment), [...onceRefunded, 'PaymentRefunded'])
    })
  }

  test('a pending refund of our own that is only accepted gets the provider’s id, and stays', async () => {
    const payment = await stated.createPaid()
    const refundId = await ownPending(payment, 1_000n)
    await stated.say(refund(payment, 're_accepted', { refundId, status: 'pending' }))
    const [row] = (await stated.details(payment)).refunds
    assert.deepEqual([row?.id, row?.providerReference], [refundId, 're_accepted'])
    assert.deepEqual(await stated.refunds(payment), ['pending 1000'])
    assert.deepEqual(await transitionsOf(refundId), [])
  })

  test('the history and the checks of the database refuse what the state table refuses', async () => {
    const payment = await stated.createPaid()
    await stated.say(refund(payment, 're_checked'))
    const [row] = (await stated.details(payment)).refunds
    const write = (id: string, type: string, to: string) =>
      sql`
      insert into billing.payment_transitions
        (id, payment_id, payment_type, from_status, to_status, cause)
      values (${randomUUID()}::uuid, ${id}::uuid, ${type}, 'paid', ${to}, 'call')`.execute(
        stated.database.db,
      )
    const refused = { code: '23514' }
    for (const to of ['pending', 'failed', 'canceled']) {
      await assert.rejects(write(payment.id, 'charge', to), refused)
    }
    for (const to of ['pending', 'canceled', 'paid']) {
      await assert.rejects(write(row?.id ?? '', 'refund', to), refused)
    }
  })
})
