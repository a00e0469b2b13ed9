import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  answering,
  contextOf,
  openBank,
  operations,
  paid,
  refundOf,
  sent,
} from '../../../test/gateways/monobank/asking.ts'
import { failureOf, now, refundId } from '../../../test/providers/kit.ts'
import { endedBySilence } from '../../../test/providers/until-silent.ts'
import { interpretText, invoiceId, paymentId } from '../../../test/gateways/monobank/invoices.ts'

const { refund } = operations

test('a refund states the invoice, the amount and its own id, once', async () => {
  await using bank = await openBank()
  const payment = await paid(bank)
  const reply = await refund(refundOf(5000n, { payment }), contextOf(bank))
  const reference = `${payment.checkoutReference}/${refundId}`
  assert.deepEqual(reply, { status: 'pending', reference })
  assert.deepEqual(sent(bank, 'refund'), [
    { invoiceId: payment.checkoutReference, extRef: refundId, amount: 5000 },
  ])
  assert.deepEqual(bank.refunds(paymentId), [{ amount: 5000n, status: 'pending' }])
})

test('the whole is stated as an amount too', async () => {
  await using bank = await openBank()
  const payment = await paid(bank)
  await refund(refundOf(15_075n, { payment }), contextOf(bank))
  assert.equal(sent(bank, 'refund')[0]?.amount, 15_075)
})

test('the reply, the callback and the poll name the refund alike', async () => {
  await using bank = await openBank()
  const payment = await paid(bank)
  const { reference } = await refund(refundOf(5000n, { payment }), contextOf(bank))
  for (const status of ['pending', 'paid'] as const) {
    const expected = {
      type: 'refund',
      payment: { checkoutReference: payment.checkoutReference },
      status,
      amount: 5000n,
      currency: 'UAH',
      refundReference: reference,
      refundId,
    }
    assert.deepEqual(interpretText(bank.refundCallback(paymentId).body)[1], expected)
    const reply = await operations.poll({ payment, handedAt: now }, contextOf(bank))
    assert.deepEqual(reply.outcomes[1], expected)
    assert.equal(reply.listsRefunds, true)
    bank.completeRefunds(paymentId)
  }
})

test('a refund may be done at once, or fail at once', async () => {
  await using bank = await openBank()
  const payment = await paid(bank)
  const reference = `${payment.checkoutReference}/${refundId}`
  bank.beginRefundsAs('success')
  const done = await refund(refundOf(5000n, { payment }), contextOf(bank))
  assert.deepEqual(done, { status: 'paid', reference })
  bank.beginRefundsAs('failure')
  const failed = await refund(refundOf(5000n, { payment }), contextOf(bank))
  assert.deepEqual(failed, { status: 'failed', reference })
})

test('more than is left is refused with the code of the bank, refunds under way counted', async () => {
  await using bank = await openBank()
  const payment = await paid(bank)
  await refund(refundOf(10_000n, { payment }), contextOf(bank))
  const another = '0198f0aa-2222-7222-8222-222222222222'
  const request = refundOf(5076n, { payment, refundId: another })
  assert.deepEqual(await failureOf(refund(request, contextOf(bank))), {
    code: 'provider_refused',
    providerCode: 'WRONG_CANCEL_AMOUNT',
  })
  assert.equal(bank.refunds(paymentId).length, 1)
})

test('a payment whose invoice is not known is refused without a request', async () => {
  await using bank = await openBank()
  const { code } = await failureOf(refund(refundOf(5000n), contextOf(bank)))
  assert.equal(code, 'provider_refused')
  assert.equal(bank.asked.length, 0)
})

for (const [status, errCode, code] of [
  [400, 'BAD_REQUEST', 'provider_refused'],
  [400, '1001', 'provider_refused'],
  [403, 'FORBIDDEN', 'provider_refused'],
  [404, 'NOT_FOUND', 'provider_refused'],
  [405, 'METHOD_NOT_ALLOWED', 'provider_refused'],
  [429, 'TMR', 'provider_refused'],
  [500, 'CANCEL_NOT_AVAILABLE', 'provider_refused'],
  [500, 'INTERNAL_ERROR', 'provider_unreachable'],
  [503, undefined, 'provider_unreachable'],
  [429, undefined, 'provider_unreachable'],
] as const) {
  test(`an answer of ${status} (${errCode ?? 'no code'}) to a refund is ${code}`, async () => {
    await using bank = await answering({ status, body: { errCode, errText: 'x' } })
    const request = refundOf(5000n, { payment: { checkoutReference: invoiceId } })
    const failure = await failureOf(refund(request, contextOf(bank)))
    assert.deepEqual(failure, { code, providerCode: errCode })
    assert.equal(bank.requests.length, 1)
  })
}

test('a reply that says no status of a refund leaves it open', async () => {
  const replies = [{}, { status: 'done' }, { status: 'created' }, { status: 7 }, [], 'x', '', null]
  for (const body of replies) {
    await using bank = await answering({ body })
    const request = refundOf(5000n, { payment: { checkoutReference: invoiceId } })
    const { code } = await failureOf(refund(request, contextOf(bank)))
    assert.equal(code, 'provider_reply_invalid', JSON.stringify(body))
    assert.equal(bank.requests.length, 1)
  }
})

test('whatever becomes of the answer, a refund is asked for once', async () => {
  await using bank = await openBank()
  const payment = await paid(bank)
  const troubles = ['never', 'lost', 'cut', 'garbled', 'wrong', 'refuse', 'down', 'late'] as const
  for (const [index, trouble] of troubles.entries()) {
    bank.misbehave('refund', trouble)
    const signal = endedBySilence(bank)
    const id = `0198f0aa-3333-7333-8333-33333333333${index}`
    const asked = refund(refundOf(1000n, { payment, refundId: id }), contextOf(bank, { signal }))
    if (trouble === 'late') assert.equal((await asked).status, 'pending')
    else await assert.rejects(asked)
    assert.equal(sent(bank, 'refund').length, index + 1)
  }
  // Asked for or not: those that the bank has got are in its list, by the id of our row.
  const reply = await operations.poll({ payment, handedAt: now }, contextOf(bank))
  const listed = reply.outcomes.map((one) => 'refundId' in one && one.refundId?.slice(-1))
  assert.deepEqual(listed.filter(Boolean), ['0', '2', '3', '4', '7'])
})
