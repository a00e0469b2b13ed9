import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pendingPayment } from '../../test/support/pending-payment.ts'
import type { PaymentOutcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import { ignoredResult, type Applied } from './applied.ts'
import { refundByRelease, released, reviewRelease } from './released-money.ts'

const charge = pendingPayment({ gateway: 'x', status: 'paid' })
const report = { gateway: 'x', outcomes: [], cause: 'call', callId: null } as const
const release: PaymentOutcome = {
  type: 'payment',
  payment: { id: charge.id },
  status: 'canceled',
  ifPaid: 'refunded',
}
const overtaken = ignoredResult({ type: 'payment', reason: 'already_paid' })
const told: Applied = {
  kind: 'claim',
  type: 'payment:canceled',
  payment: charge,
  review: false,
  claim: { eventId: 'e', dedupKey: 'k', type: 'PaymentCanceled', subject: { payment: charge } },
}
const refundBy = (outcome: PaymentOutcome, applied: Applied = overtaken, of: Payment = charge) =>
  refundByRelease({ report, outcome }, applied, of)

test('money that is let go of a payment that is paid went back whole', () => {
  const whole = { type: 'refund', status: 'paid', payment: { id: charge.id } }
  const expected = { ...whole, refundedTotal: 4999n, currency: 'USD' }
  for (const applied of [overtaken, told]) {
    assert.deepEqual(refundBy(release, applied), { report, outcome: expected })
  }
  const stated = { amount: 0n, currency: 'EUR', merchantAccount: 'shop', live: false }
  assert.deepEqual(refundBy({ ...release, ...stated })?.outcome, {
    ...whole,
    refundedTotal: 0n,
    currency: 'EUR',
    merchantAccount: 'shop',
    live: false,
  })
})

test('of a payment that is not paid nothing went back', () => {
  assert.equal(refundBy(release, told, { ...charge, status: 'canceled' }), undefined)
})

test('no other report means a refund, nor one that was ignored for another reason', () => {
  assert.equal(refundBy({ ...release, ifPaid: 'review' }), undefined)
  const { ifPaid: _, ...plain } = release
  assert.equal(refundBy(plain), undefined)
  const elsewhere = ignoredResult({ type: 'payment', reason: 'merchant_mismatch' })
  assert.equal(refundBy(release, elsewhere), undefined)
  const result = { result: 'applied', type: 'payment', reason: 'already_paid' } as const
  const other: Applied = { kind: 'recorded', payment: charge, review: false, result }
  assert.equal(refundBy(release, other), undefined)
})

test('what may not have been this payment’s is for a person, once the payment is paid', () => {
  const settledBefore = ignoredResult({ type: 'payment', reason: 'already_settled' })
  const review = (applied: Applied, ifPaid: 'review' | 'refunded', of: Payment = charge) =>
    reviewRelease({ report, outcome: { ...release, ifPaid } }, applied, of)
  for (const applied of [overtaken, settledBefore, told]) {
    assert.deepEqual(review(applied, 'review'), { ...applied, review: true })
    assert.equal(review(applied, 'refunded'), applied)
    assert.equal(review(applied, 'review', { ...charge, status: 'canceled' }), applied)
  }
})

test('the word by which a result is found again stays as calls have stored it', () => {
  assert.equal(released, 'released')
})
