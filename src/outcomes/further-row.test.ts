import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pendingPayment } from '../../test/support/pending-payment.ts'
import { refundRow, renewalRow } from './further-row.ts'

const charge = pendingPayment({
  gateway: 'x',
  status: 'paid',
  merchantAccount: 'ours',
  live: true,
  payable: { type: 'order', id: '42' },
  description: 'Order 42',
  customer: { id: '7' },
  metadata: { note: 'theirs' },
  returnUrl: 'https://shop.test/thanks',
  checkoutReference: 'cs_1',
  providerReference: 'pi_1',
  checkout: 'closed',
  checkoutUrl: 'https://pay.test/1',
  operationError: 'no checkout at first',
  saveCard: true,
  paymentMethodId: '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e02',
  expiresAt: new Date('2026-11-21T12:00:00Z'),
})
const own = {
  id: '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e03',
  amount: 1_000n,
  providerReference: 're_1',
}

test('a refund shares what was paid for and by whom with its charge, and nothing of its checkout', () => {
  const { gateway, merchantAccount, live, currency, payable, description, customer } = charge
  const shared = { gateway, merchantAccount, live, currency, payable, description, customer }
  assert.deepEqual(refundRow(charge, own), {
    ...shared,
    ...own,
    type: 'refund',
    parentId: charge.id,
    status: 'pending',
    checkout: 'none',
    checkoutReference: null,
    checkoutUrl: null,
    operationError: null,
    saveCard: false,
    paymentMethodId: null,
    periodId: null,
    returnUrl: null,
    expiresAt: null,
    metadata: null,
    isHanded: false,
    firstPollAfter: null,
  })
})

test('what is given besides is the refund’s own', () => {
  const row = refundRow(charge, { ...own, status: 'paid', isHanded: true, metadata: { of: 'own' } })
  assert.deepEqual([row.status, row.isHanded, row.metadata], ['paid', true, { of: 'own' }])
})

test('a renewal is a further charge of the same, polled where its provider can be asked for it', () => {
  const { type, parentId, currency, ...row } = renewalRow(charge, true, { ...own, currency: 'EUR' })
  assert.deepEqual([type, parentId, currency], ['charge', null, 'EUR'])
  assert.deepEqual([row.payable, row.isHanded, row.firstPollAfter], [charge.payable, true, 300_000])
  assert.deepEqual(renewalRow(charge, false, own).firstPollAfter, null)
})
