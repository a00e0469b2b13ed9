import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { EventOf } from '../../src/events/catalogue.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { requeueCallsWithPayment } from '../../src/outcomes/awaiting.ts'
import { idle, until } from '../support/billing.ts'
import { forEachDatabase } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid, refund } from '../support/statements.ts'
import type { Statement } from '../support/stating-gateway.ts'

forEachDatabase((engine) => {
  let stated: StatedBilling
  /** Attempts in which a listener of that type throws. */
  const failures = { PaymentRefunded: 0, PaymentDisputed: 0 }
  /** What listeners in the transaction, and queued ones, heard of disputes. */
  const heard: EventOf<'PaymentDisputed'>[] = []
  const queued: EventOf<'PaymentDisputed'>[] = []
  before(async () => {
    stated = await openStated(engine, {
      listen: ({ core }) => {
        core.on(['PaymentRefunded', 'PaymentDisputed'], 'fails', ({ type }) => {
          failures[type] -= 1
          if (failures[type] >= 0) throw new Error('no stock')
        })
        core.on('PaymentDisputed', 'hears', (event, { afterCommit }) =>
          afterCommit(() => heard.push(event)),
        )
        core.on('PaymentDisputed', 'hearsLater', (event) => void queued.push(event), {
          queued: true,
        })
      },
    })
  })
  after(() => stated.close())

  const dispute = (
    { id }: Pick<Payment, 'id'>,
    reference: string,
    fields: Readonly<Record<string, unknown>> = {},
  ): Statement => ({ type: 'dispute', payment: { id }, reference, status: 'open', ...fields })
  /** What listeners heard of the disputes of a payment: status and payment's status of each. */
  const toldOf = (payment: Payment, events: readonly EventOf<'PaymentDisputed'>[] = heard) =>
    events
      .filter((event) => event.payment.id === payment.id)
      .map((event) => `${event.dispute.status} ${event.payment.status}`)
  const disputesOf = async (payment: Payment) =>
    (await stated.details(payment)).disputes.map(({ providerReference, status, amount }) =>
      [providerReference, status, amount].join(' '),
    )

  test('a dispute is recorded once beside its payment, for review; its event fires once, nothing moves', async () => {
    const payment = await stated.createPaid()
    const stating = dispute(payment, 'dp_1', { amount: 10_000n, currency: 'USD' })
    const call = await stated.say(stating)
    assert.deepEqual(call.outcome, [{ result: 'applied', type: 'dispute:open' }])
    assert.deepEqual(
      [call.state, call.needsReview, call.paymentId],
      ['processed', true, payment.id],
    )
    assert.deepEqual(stated.resultsOf(await stated.say(stating)), ['duplicate'])
    const { disputes, status, transitions } = await stated.details(payment)
    assert.deepEqual(
      disputes.map(({ gateway, paymentId, amount, currency }) => [
        gateway,
        paymentId,
        amount,
        currency,
      ]),
      [['stating', payment.id, 10_000n, 'USD']],
    )
    assert.deepEqual([status, transitions.length], ['paid', 1])
    assert.deepEqual(await stated.events(payment), ['PaymentSucceeded', 'PaymentDisputed'])
    const event = heard.find((one) => one.payment.id === payment.id)
    assert.deepEqual(event?.dispute, disputes[0])
    assert.equal(event?.dedupKey, `dispute:open:${disputes[0]?.id}`)
    assert.deepEqual(toldOf(payment), ['open paid'])
    await until(() => toldOf(payment, queued).length > 0, { what: 'the queued one hears' })
    assert.deepEqual(
      queued.filter((one) => one.payment.id === payment.id).map((one) => one.dispute),
      disputes,
    )
    assert.ok(stated.lines.some((line) => line['call'] === call.id && line['level'] === 40))
  })

  for (const [end, flagged, opposite] of [
    ['lost', true, 'won'],
    ['won', false, 'lost'],
  ] as const) {
    test(`an open dispute is ${end} in the end, and stays so`, async () => {
      const payment = await stated.createPaid()
      const reference = `dp_${end}`
      await stated.say(dispute(payment, reference, { amount: 500n, currency: 'USD' }))
      const call = await stated.say(dispute(payment, reference, { status: end }))
      assert.deepEqual([stated.resultsOf(call), call.needsReview], [['applied'], flagged])
      const late = await stated.say(dispute(payment, reference))
      assert.deepEqual([stated.resultsOf(late), late.needsReview], [['already_settled'], false])
      const other = await stated.say(dispute(payment, reference, { status: opposite }))
      assert.deepEqual(
        [stated.resultsOf(other), other.needsReview],
        [['already_settled'], opposite === 'lost'],
      )
      assert.deepEqual(await disputesOf(payment), [`${reference} ${end} 500`])
      assert.deepEqual(toldOf(payment), ['open paid', `${end} paid`])
      assert.equal((await stated.details(payment)).status, 'paid')
    })
  }

  test('a charge-back after the payment, then a late paid callback: nothing changes', async () => {
    const payment = await stated.createPaid()
    await stated.say(dispute(payment, 'dp_late', { status: 'lost' }))
    const call = await stated.say(paid(payment))
    assert.deepEqual(stated.resultsOf(call), ['duplicate'])
    assert.equal((await stated.details(payment)).status, 'paid')
    assert.deepEqual(await stated.events(payment), ['PaymentSucceeded', 'PaymentDisputed'])
    assert.deepEqual(await disputesOf(payment), ['dp_late lost '])
  })

  test('a dispute whose callback is processed again, for a listener threw, keeps its flag', async () => {
    const payment = await stated.createPaid()
    failures.PaymentRefunded = 1
    await stated.deliver(dispute(payment, 'dp_again'), refund(payment, 're_again'))
    const [call] = (await stated.core.calls.list({ limit: 1 })).data
    assert.ok(call)
    await stated.attempted(call, 1)
    assert.deepEqual(await disputesOf(payment), ['dp_again open '])
    await stated.retry()
    const ended = await stated.core.calls.get(call.id)
    assert.deepEqual([ended?.state, ended?.needsReview], ['processed', true])
    const events = await stated.events(payment)
    assert.deepEqual(events.toSorted(), ['PaymentDisputed', 'PaymentRefunded', 'PaymentSucceeded'])
    assert.deepEqual(toldOf(payment), ['open paid'])
  })

  test('a dispute whose listener threw is told by the next attempt, and by no replay', async () => {
    const payment = await stated.createPaid()
    failures.PaymentDisputed = 1
    await stated.deliver(dispute(payment, 'dp_thrown'))
    const [call] = (await stated.core.calls.list({ limit: 1 })).data
    assert.ok(call)
    await stated.attempted(call, 1)
    assert.deepEqual([await disputesOf(payment), toldOf(payment)], [['dp_thrown open '], []])
    await stated.retry()
    assert.deepEqual(toldOf(payment), ['open paid'])
    await stated.core.calls.replay(call.id)
    await idle(stated.core)
    assert.deepEqual(toldOf(payment), ['open paid'])
    assert.deepEqual((await stated.core.calls.get(call.id))?.dedupClaims.length, 1)
  })

  test('a dispute that has ended before its opening could be told: only its end is', async () => {
    const payment = await stated.createPaid()
    failures.PaymentDisputed = 1
    await stated.deliver(dispute(payment, 'dp_quick'))
    const [call] = (await stated.core.calls.list({ limit: 1 })).data
    assert.ok(call)
    await stated.attempted(call, 1)
    await stated.deliver(dispute(payment, 'dp_quick', { status: 'won' }))
    await until(() => toldOf(payment).length > 0, { what: 'the end is told' })
    await stated.retry()
    assert.deepEqual(toldOf(payment), ['won paid'])
    const opening = await stated.core.calls.get(call.id)
    assert.ok(opening)
    assert.deepEqual(stated.resultsOf(opening), ['already_settled'])
  })

  test('ten reports of one dispute at once fire one event', async () => {
    const payment = await stated.createPaid()
    const reports = Array.from({ length: 10 }, () => stated.deliver(dispute(payment, 'dp_ten')))
    await Promise.all(reports)
    await idle(stated.core)
    assert.deepEqual(toldOf(payment), ['open paid'])
  })

  test('a refunded payment is disputed, and a renewal: each under its own charge', async () => {
    const refunded = await stated.createPaid()
    await stated.say(refund(refunded, 're_before'), dispute(refunded, 'dp_refunded'))
    assert.deepEqual(toldOf(refunded), ['open paid'])
    const first = await stated.createPaid({ providerReference: 'pi_first' })
    await stated.say({
      type: 'payment',
      status: 'paid',
      payment: { providerReference: 'pi_renewal' },
      renews: { id: first.id },
      amount: 10_000n,
      currency: 'USD',
    })
    const renewed = { type: 'dispute', payment: { providerReference: 'pi_renewal' } } as const
    await stated.say({ ...renewed, reference: 'dp_renewal', status: 'lost' })
    const event = heard.find(({ dispute: one }) => one.providerReference === 'dp_renewal')
    assert.deepEqual(
      [event?.payment.providerReference, event?.payment.payable, event?.dispute.paymentId],
      ['pi_renewal', first.payable, event?.payment.id],
    )
    assert.deepEqual(toldOf(first), [])
  })

  test('a dispute of an unknown payment waits for it; another gateway’s or account’s is ignored', async () => {
    const providerReference = 'pi_disputed'
    const early = await stated.say({
      ...dispute({ id: '' }, 'dp_early'),
      payment: { providerReference },
    })
    assert.deepEqual(stated.resultsOf(early), ['unknown_payment'])
    const payment = await stated.create({ providerReference })
    await idle(stated.core)
    assert.deepEqual(await disputesOf(payment), ['dp_early open '])
    assert.deepEqual(toldOf(payment), ['open pending'])
    assert.equal((await requeueCallsWithPayment(stated.database.db)).length, 0)

    const foreign = await stated.sayBy('echoing', dispute(payment, 'dp_foreign'))
    assert.deepEqual([stated.resultsOf(foreign), foreign.needsReview], [['gateway_mismatch'], true])
    const account = await stated.say(dispute(payment, 'dp_account', { merchantAccount: 'b' }))
    assert.deepEqual(stated.resultsOf(account), ['merchant_mismatch'])
    assert.deepEqual(await disputesOf(payment), ['dp_early open '])
  })
})
