import assert from 'node:assert/strict'
import { test } from 'node:test'
import { otherPaymentId, paymentId } from '../../../test/gateways/hutko/callbacks.ts'
import { pinValues, type PinnedValues } from './shifted-fields.ts'

const time = '14.02.2026 09:05:59'
const nothing: PinnedValues = {
  merchant_id: undefined,
  order_id: undefined,
  order_status: 'approved',
  order_time: time,
  amount: undefined,
  currency: undefined,
  parent_order_id: undefined,
  payment_id: undefined,
  response_status: undefined,
  reversal_amount: undefined,
  tran_type: undefined,
  verification_status: undefined,
}

const cases: readonly (readonly [string, readonly string[], Partial<PinnedValues>])[] = [
  ['nothing but a status and its time', ['approved', time], {}],
  ['an order', ['x', 'approved', time], { order_id: 'x' }],
  [
    'a merchant before an order that is a number itself',
    ['77', '555', 'approved', time],
    { merchant_id: '77', order_id: '555' },
  ],
  [
    'numbers without a currency: no amount',
    ['4999', '77', 'x', 'approved', time],
    { merchant_id: '77', order_id: 'x' },
  ],
  [
    'an amount before its currency',
    ['4999', 'UAH', '77', 'x', 'approved', time],
    { merchant_id: '77', order_id: 'x', amount: '4999', currency: 'UAH' },
  ],
  [
    'the own currency behind the payer’s',
    ['120', 'USD', '4999', '6', 'UAH', '77', 'x', 'approved', time],
    { merchant_id: '77', order_id: 'x', amount: '4999', currency: 'UAH' },
  ],
  [
    'two currencies and no amount between them',
    ['120', 'USD', 'VISA', 'UAH', '77', 'x', 'approved', time],
    { merchant_id: '77', order_id: 'x', currency: 'UAH' },
  ],
  [
    'an order that is named like a currency',
    ['4999', 'UAH', '77', 'EUR', 'approved', time],
    { merchant_id: '77', order_id: 'EUR', amount: '4999', currency: 'UAH' },
  ],
  [
    'a currency behind the card',
    ['4999', 'UAH', '444455XXXXXX1111', 'EUR', '77', 'x', 'approved', time],
    { merchant_id: '77', order_id: 'x', amount: '4999', currency: 'UAH' },
  ],
  [
    'a card behind the order',
    ['4999', 'UAH', '77', 'x', 'approved', time, '444455XXXXXX1111', 'EUR'],
    { merchant_id: '77', order_id: 'x', amount: '4999', currency: 'UAH' },
  ],
  [
    'a parent before the charge, and another UUID behind it',
    ['x', 'approved', time, paymentId, '9', otherPaymentId],
    { order_id: 'x', parent_order_id: paymentId, payment_id: '9' },
  ],
  [
    'a UUID behind the charge only',
    ['x', 'approved', time, '9', otherPaymentId],
    { order_id: 'x', payment_id: '9' },
  ],
  [
    'a parent and no charge',
    ['x', 'approved', time, paymentId],
    { order_id: 'x', parent_order_id: paymentId },
  ],
  [
    'an order that is named like a result',
    ['77', 'success', 'approved', time, '9', 'success', '0', 'purchase'],
    {
      merchant_id: '77',
      order_id: 'success',
      payment_id: '9',
      response_status: 'success',
      reversal_amount: '0',
      tran_type: 'purchase',
    },
  ],
  [
    'a failure with a reversed sum',
    ['x', 'approved', time, '9', 'failure', '100', 'reverse', 'verified'],
    {
      order_id: 'x',
      payment_id: '9',
      response_status: 'failure',
      reversal_amount: '100',
      tran_type: 'reverse',
      verification_status: 'verified',
    },
  ],
  [
    'an operation before the result: none',
    ['x', 'approved', time, 'purchase', 'success'],
    { order_id: 'x', response_status: 'success' },
  ],
  [
    'an operation and no result: no reversed sum',
    ['x', 'approved', time, 'purchase', '9'],
    { order_id: 'x', payment_id: '9', tran_type: 'purchase' },
  ],
]
for (const [what, pieces, values] of cases) {
  test(`pinned: ${what}`, () => {
    assert.deepEqual(pinValues(pieces), { ...nothing, ...values })
  })
}

test('without a status directly before a time nothing is decided', () => {
  const texts = [[], ['approved'], [time], [time, 'approved'], ['approved', '7', time], ['1', time]]
  for (const pieces of texts) assert.equal(pinValues(pieces), 'undecided', pieces.join('|'))
})

test('whatever could be read in two ways is ambiguous', () => {
  const order = ['x', 'approved', time]
  const texts = [
    [...order, ...order],
    ['UAH', 'USD', 'EUR', ...order],
    [...order, paymentId, otherPaymentId, '9'],
    [...order, 'success', 'success'],
    [...order, 'success', 'failure'],
    [...order, 'success', 'purchase', 'reverse'],
    [...order, 'success', 'failed', 'verified'],
  ]
  for (const pieces of texts) assert.equal(pinValues(pieces), 'ambiguous', pieces.join('|'))
})
