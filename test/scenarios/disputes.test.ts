import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Payment } from '../../src/payments/payment.ts'
import { requeueCallsWithPayment } from '../../src/outcomes/awaiting.ts'
import { idle } from '../support/billing.ts'
import { forEachDatabase } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid, refund } from '../support/statements.ts'
import type { Statement } from '../support/stating-gateway.ts'

forEachDatabase((engine) => {
  let stated: StatedBilling
  /** Attempts in which the listener throws. */
  let failures = 0
  before(async () => {
    stated = await openStated(engine, {
      listen: ({ core }) =>
        core.on('PaymentRefunded', 'fails', () => {
          failures -= 1
          if (failures >= 0) throw new Error('no stock')
        }),
    })
  })
  after(() => stated.close())

  const dispute = (
    { id }: Pick<Payment, 'id'>,
    reference: string,
    fields: Readonly<Record<string, unknown>> = {},
  ): Statement => ({ type: 'dispute', payment: { id }, reference, status: 'open', ...fields })
  const disputesOf = async (payment: Payment) =>
    (await stated.details(payment)).disputes.map(({ providerReference, status, amount }) =>
      [providerReference, status, amount].join(' '),
    )

  test('a dispute is recorded once beside its payment, for review; nobody is told, nothing moves', async () => {
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
    assert.deepEqual(await stated.events(payment), ['PaymentSucceeded'])
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
      assert.deepEqual(await stated.events(payment), ['PaymentSucceeded'])
      assert.equal((await stated.details(payment)).status, 'paid')
    })
  }

  test('a charge-back after the payment, then a late paid callback: nothing changes', async () => {
    const payment = await stated.createPaid()
    await stated.say(dispute(payment, 'dp_late', { status: 'lost' }))
    const call = await stated.say(paid(payment))
    assert.deepEqual(stated.resultsOf(call), ['duplicate'])
    assert.equal((await stated.details(payment)).status, 'paid')
    assert.deepEqual(await stated.events(payment), ['PaymentSucceeded'])
    assert.deepEqual(await disputesOf(payment), ['dp_late lost '])
  })

  test('a dispute whose callback is processed again, for a listener threw, keeps its flag', async () => {
    const payment = await stated.createPaid()
    failures = 1
    await stated.deliver(dispute(payment, 'dp_again'), refund(payment, 're_again'))
    const [call] = (await stated.core.calls.list({ limit: 1 })).data
    assert.ok(call)
    await stated.attempted(call, 1)
    assert.deepEqual(await disputesOf(payment), ['dp_again open '])
    await stated.retry()
    const ended = await stated.core.calls.get(call.id)
    assert.deepEqual([ended?.state, ended?.needsReview], ['processed', true])
    assert.deepEqual(await stated.events(payment), ['PaymentSucceeded', 'PaymentRefunded'])
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
    assert.equal((await requeueCallsWithPayment(stated.database.db)).length, 0)

    const foreign = await stated.sayBy('echoing', dispute(payment, 'dp_foreign'))
    assert.deepEqual([stated.resultsOf(foreign), foreign.needsReview], [['gateway_mismatch'], true])
    const account = await stated.say(dispute(payment, 'dp_account', { merchantAccount: 'b' }))
    assert.deepEqual(stated.resultsOf(account), ['merchant_mismatch'])
    assert.deepEqual(await disputesOf(payment), ['dp_early open '])
  })
})
