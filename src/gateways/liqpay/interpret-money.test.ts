import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertIgnored,
  callback,
  ignoredAs,
  interpret,
  interpretText,
  paid,
  paidBefore,
  refunded,
} from '../../../test/gateways/liqpay/callbacks.ts'

const text = JSON.stringify(callback())
const withAmount = (lexeme: string) => text.replace('"amount":842.35', `"amount":${lexeme}`)
const { amount: _amount, ...withoutAmount } = paid
const { currency: _currency, ...withoutMoney } = withoutAmount

test('amounts are read from their source text, as number or text, and never through a float', () => {
  const cases: readonly (readonly [string, bigint])[] = [
    ['842.35', 84235n],
    ['842.350', 84235n],
    ['180.0', 18000n],
    ['180', 18000n],
    ['0', 0n],
    ['0.01', 1n],
    ['4.35', 435n],
    ['1136.1', 113610n],
    ['"10.00"', 1000n],
    ['9999999999999.99', 999999999999999n],
  ]
  for (const [lexeme, amount] of cases) {
    assert.deepEqual(interpretText(withAmount(lexeme)), [{ ...paid, amount }], lexeme)
  }
})

test('an amount that is no plain decimal is left out, so that it settles nothing', () => {
  const lexemes = [
    '-842.35',
    '8.4235e2',
    '1.0E7',
    '842.351',
    '99999999999999.9',
    'null',
    '[842.35]',
  ]
  const texts = ['""', '" 842.35"', '"842,35"', '"1_0"', '"0x10"', '"٨"', '"+1"', '"842.35\\n"']
  for (const lexeme of [...lexemes, ...texts, '9'.repeat(30), 'true', '{}']) {
    assert.deepEqual(interpretText(withAmount(lexeme)), [withoutAmount], lexeme)
  }
  assert.deepEqual(interpret({ amount: undefined }), [withoutAmount])
})

test('what was debited from the payer’s card is never taken for what was asked', () => {
  assert.deepEqual(interpret({ amount_debit: 1, currency_debit: 'EUR', amount_credit: 2 }), [paid])
  const outcome = interpret({ amount: undefined, amount_debit: 842.35, currency_debit: 'UAH' })
  assert.deepEqual(outcome, [withoutAmount])
})

test('a currency is three capitals that stand for one; any other spelling leaves the money out', () => {
  const spellings = ['uah', 'UAH ', ' UAH', 'UAH\u200b', 'ＵＡＨ', '980', 'UA', '', 'XYZ', 'HRN']
  for (const currency of [...spellings, null, 980, ['UAH'], undefined]) {
    assert.deepEqual(interpret({ currency }), [withoutMoney], String(currency))
  }
  assert.deepEqual(interpret({ currency: 'USD' }), [{ ...paid, currency: 'USD' }])
})

test('the currency’s own decimals count', () => {
  const cases = [
    ['JPY', 5000.0, 5000n],
    ['KWD', 12.345, 12345n],
    ['EUR', 0.5, 50n],
  ] as const
  for (const [currency, amount, units] of cases) {
    assert.deepEqual(interpret({ currency, amount }), [{ ...paid, currency, amount: units }])
  }
  const yen = { ...withoutAmount, currency: 'JPY' }
  assert.deepEqual(interpret({ currency: 'JPY', amount: 5000.5 }), [yen])
})

test('a reversal gives back the stated sum, or all if it states none, of what had been paid', () => {
  const reversed = { status: 'reversed' }
  for (const none of [undefined, null]) {
    assert.deepEqual(interpret({ ...reversed, refund_amount: none }), [paidBefore, refunded])
  }
  const part = { ...refunded, refundedTotal: 10050n }
  assert.deepEqual(interpret({ ...reversed, refund_amount: 100.5 }), [paidBefore, part])
  assert.deepEqual(interpret({ ...reversed, refund_amount: '100.50' }), [paidBefore, part])
  // More than was paid: for the core to notice.
  assert.deepEqual(interpret({ ...reversed, refund_amount: 1000 }), [
    paidBefore,
    { ...refunded, refundedTotal: 100000n },
  ])
})

test('a reversal of nothing, or of a sum that cannot be read, gives nothing back', () => {
  for (const sum of [0, '', -1, 'all', true, [1], 1.234]) {
    const fields = { status: 'reversed', refund_amount: sum }
    assertIgnored(fields, 'malformed_payload', 'refund_amount')
  }
  for (const sum of [0, undefined, null, '-1']) {
    assertIgnored({ status: 'reversed', amount: sum }, 'malformed_payload', 'amount')
  }
  for (const currency of ['uah', null, undefined]) {
    assertIgnored({ status: 'reversed', currency }, 'malformed_payload', 'currency')
  }
})

test('a payment that stays paid while a part went back is both, the payment first', () => {
  const refund = { ...refunded, refundedTotal: 10000n }
  assert.deepEqual(interpret({ refund_amount: 100 }), [paid, refund])
  for (const none of [undefined, null, 0, '0.00']) {
    assert.deepEqual(interpret({ refund_amount: none }), [paid], String(none))
  }
  const unread = ignoredAs('malformed_payload', 'refund_amount')
  for (const sum of ['', 'x', -1, true]) {
    assert.deepEqual(interpret({ refund_amount: sum }), [paid, unread], String(sum))
  }
  const failed = [{ ...paid, status: 'failed' }]
  assert.deepEqual(interpret({ status: 'failure', refund_amount: 100 }), failed)
  const card = interpret({ refund_amount: 100, card_token: 'T1' }).map(({ type }) => type)
  assert.deepEqual(card, ['payment', 'refund', 'payment_method'])
})
