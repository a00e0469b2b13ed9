import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pendingPayment } from '../../test/support/pending-payment.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import { ignoredResult, needsReview, subjectIds } from './applied.ts'

const payment = pendingPayment({ gateway: 'x' })
const at = payment.createdAt

test('an event’s row refers to its payment, or to its card and what that was saved with', () => {
  const paymentMethod: PaymentMethod = {
    id: '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e02',
    gateway: 'x',
    merchantAccount: null,
    live: null,
    status: 'attached',
    providerReference: 'card_1',
    customerReference: null,
    paymentId: payment.id,
    details: {},
    hasToken: false,
    createdAt: at,
    updatedAt: at,
  }
  assert.deepEqual(subjectIds({ payment }), {
    paymentId: payment.id,
    paymentMethodId: null,
    subscriptionId: null,
    invoiceId: null,
  })
  assert.deepEqual(subjectIds({ paymentMethod }), {
    paymentId: payment.id,
    paymentMethodId: paymentMethod.id,
    subscriptionId: null,
    invoiceId: null,
  })
})

test('one result that a person should look at is enough', () => {
  const plain = ignoredResult({ type: 'payment', reason: 'already_paid' })
  const odd = ignoredResult({ type: 'payment', reason: 'amount_mismatch', review: true })
  assert.equal(needsReview([plain, odd]), true)
  assert.equal(needsReview([plain]), false)
  assert.equal(needsReview([]), false)
})

test('what is ignored keeps its reason; all else only where it is given', () => {
  assert.deepEqual(ignoredResult({ type: 'callback', reason: 'no_outcome' }), {
    kind: 'ignored',
    result: { result: 'ignored', type: 'callback', reason: 'no_outcome' },
    review: false,
    payment: undefined,
    awaiting: [],
  })
  const given = { detail: 'x.y', review: true, payment, awaiting: ['id:1'] }
  assert.deepEqual(ignoredResult({ type: 'payment', reason: 'no_outcome', ...given }), {
    kind: 'ignored',
    result: { result: 'ignored', type: 'payment', reason: 'no_outcome', detail: 'x.y' },
    review: true,
    payment,
    awaiting: ['id:1'],
  })
})
