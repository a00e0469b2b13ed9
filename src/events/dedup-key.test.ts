import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dispute } from '../payments/dispute.ts'
import type { Payment, PaymentStatus } from '../payments/payment.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import { catalogue } from './catalogue.ts'
import { standingOf, type LockedSubject } from './dedup-key.ts'

const payment = (status: PaymentStatus) => ({ id: 'p', type: 'charge', status }) as Payment
const refund = (status: PaymentStatus) => ({ id: 'r', type: 'refund', status }) as Payment
const card = (status: PaymentMethod['status']) => {
  const of = { gateway: 'g', merchantAccount: 'm', providerReference: 'c' }
  return { paymentMethod: { ...of, status } as PaymentMethod }
}
const dispute = (status: Dispute['status']) => ({
  payment: payment('paid'),
  dispute: { id: 'd', status } as Dispute,
})

test('an event that has waited still holds, was overtaken, or is over', () => {
  const { PaymentFailed, PaymentCanceled, PaymentRefunded } = catalogue
  const expiring = { key: 'payment:expiring:<payment>', says: 'pending' } as const
  const cases: readonly [Parameters<typeof standingOf>[0], string, LockedSubject, string][] = [
    [PaymentFailed, 'payment:failed:p', { payment: payment('failed') }, 'holds'],
    [PaymentFailed, 'payment:failed:p', { payment: payment('paid') }, 'overtaken'],
    [PaymentFailed, 'payment:failed:p', { payment: payment('canceled') }, 'over'],
    [PaymentCanceled, 'payment:canceled:p', { payment: payment('paid') }, 'overtaken'],
    [PaymentRefunded, 'refund:paid:r', { payment: refund('paid') }, 'holds'],
    [PaymentRefunded, 'refund:paid:r', { payment: refund('failed') }, 'over'],
    [expiring, 'payment:expiring:p', { payment: payment('pending') }, 'holds'],
    [expiring, 'payment:expiring:p', { payment: payment('paid') }, 'over'],
    [expiring, 'payment:expiring:p', { payment: payment('failed') }, 'over'],
    [catalogue.CheckoutReturned, 'checkout:returned:p', { payment: payment('pending') }, 'holds'],
    [catalogue.CheckoutReturned, 'checkout:returned:p', { payment: payment('failed') }, 'holds'],
    [catalogue.PaymentMethodAttached, 'payment_method:attached:g/m/c', card('attached'), 'holds'],
    [catalogue.PaymentMethodAttached, 'payment_method:attached:g/m/c', card('detached'), 'over'],
    [catalogue.PaymentDisputed, 'dispute:open:d', dispute('open'), 'holds'],
    [catalogue.PaymentDisputed, 'dispute:open:d', dispute('lost'), 'over'],
  ]
  for (const [row, key, subject, standing] of cases) {
    assert.equal(standingOf(row, key, subject), standing, `${key} of ${JSON.stringify(subject)}`)
  }
})

test('an event whose key is not that of its subject is an error, and so is one before its time', () => {
  const { PaymentFailed, PaymentRefunded, PaymentMethodAttached } = catalogue
  const wrong: readonly [Parameters<typeof standingOf>[0], string, LockedSubject, RegExp][] = [
    [PaymentFailed, 'payment:failed:q', { payment: payment('failed') }, /q is not the key of/],
    [PaymentFailed, 'payment:failed:r', { payment: refund('failed') }, /lacks its payment/],
    [PaymentRefunded, 'refund:paid:p', { payment: payment('paid') }, /lacks its refund/],
    [PaymentMethodAttached, 'payment_method:attached:g/c', card('attached'), /is not the key of/],
    [PaymentFailed, 'payment:failed:p', { payment: payment('pending') }, /p is pending/],
  ]
  for (const [row, key, subject, reason] of wrong) {
    assert.throws(() => standingOf(row, key, subject), reason, key)
  }
})
