import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  envelope,
  meaningOf,
  outcomesOf,
  paidOrder,
} from '../../../test/gateways/hutko/callbacks.ts'
import { check, ignored, info, payment, refund } from '../../../test/gateways/hutko/meanings.ts'

test('blocked money is not paid before it is captured', () => {
  check([
    [info({ capture_status: null }), [payment('paid')]],
    [info({ capture_status: '' }), [payment('paid')]],
    [info({}), [payment('paid')]],
    [info({ capture_status: 'captured' }), [payment('paid')]],
    [info({ capture_status: 'hold' }), [ignored('no_outcome', 'purchase approved, capture held')]],
    ...['captured ', 'created', 'approved', 'Y'].map(
      (word) =>
        [
          info({ capture_status: word }),
          [ignored('no_outcome', 'purchase approved, capture unclear')],
        ] as const,
    ),
    ...[1, true, ['captured'], { a: 1 }].map(
      (word) =>
        [
          info({ capture_status: word }),
          [ignored('no_outcome', 'purchase approved, capture unclear')],
        ] as const,
    ),
  ])
})

test('blocked money that is released whole was never paid', () => {
  const released = { order_status: 'reversed', ...info({ capture_status: 'hold' }) }
  check([
    [{ ...released, reversal_amount: '4999' }, [payment('canceled', { ifPaid: 'review' })]],
    [
      { ...released, reversal_amount: '4998' },
      [ignored('no_outcome', 'purchase reversed, capture held')],
    ],
    [
      { ...released, ...info({ capture_status: 'other' }), reversal_amount: '4999' },
      [ignored('no_outcome', 'purchase reversed, capture unclear'), refund(4999n)],
    ],
  ])
})

test('a captured part that is not the whole leaves the amount open', () => {
  const { amount: _, ...open } = payment('paid')
  const captured = (amount: unknown) => info({ capture_status: 'captured', capture_amount: amount })
  check([
    [captured(4999), [payment('paid')]],
    [captured('4999'), [payment('paid')]],
    [captured(49.99), [payment('paid')]],
    [captured('49.99'), [payment('paid')]],
    [captured(null), [payment('paid')]],
    [captured(''), [payment('paid')]],
    [captured(4998), [open]],
    [captured('0'), [open]],
    [captured([4999]), [open]],
    [captured('all'), [open]],
  ])
})

test('additional information may be an object of its own in protocol 2.0, and nothing else', () => {
  const with2 = (value: unknown) =>
    outcomesOf(JSON.stringify(envelope({ ...paidOrder, additional_info: value })))
  const [held] = with2({ capture_status: 'hold' })
  assert.deepEqual(held, ignored('no_outcome', 'purchase approved, capture held'))
  for (const value of [null, '']) assert.deepEqual(with2(value), [payment('paid')])
  for (const value of ['[]', '{', 'hold', [], 1, true]) {
    assert.deepEqual(with2(value), [ignored('malformed_payload', 'additional_info')], String(value))
  }
})

test('an amount or a currency in any other spelling is left out, and so settles nothing', () => {
  const { amount: _, ...withoutAmount } = payment('paid')
  const { currency: __, ...withoutCurrency } = payment('paid')
  for (const amount of [
    '49.99',
    '-4999',
    ' 4999',
    '4999 ',
    '4e3',
    '04999',
    '0x1',
    '',
    null,
    '٤',
    '9'.repeat(30),
  ]) {
    assert.deepEqual(meaningOf({ amount }), [withoutAmount], String(amount))
  }
  for (const currency of ['uah', 'UAH ', '980', 980, 'XXZ', 'ＵＡＨ', '', null, 'UAH\u200b']) {
    assert.deepEqual(meaningOf({ currency }), [withoutCurrency], String(currency))
  }
  assert.deepEqual(meaningOf({ amount: 9007199254740991 }), [
    payment('paid', { amount: 9007199254740991n }),
  ])
  assert.deepEqual(meaningOf({ amount: '0' }), [payment('paid', { amount: 0n })])
})
