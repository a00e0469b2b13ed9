import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  intent,
  event,
  interpretText,
  succeeded,
  fromIntent,
} from '../../../test/gateways/stripe/events.ts'

test('an amount that is no plain whole number is left out, so that it settles nothing', async () => {
  const { amount: _, ...withoutAmount } = fromIntent
  const lexemes = ['4999.0', '4.999e3', '49990e-1', '-1', '-0', '1e400', '9007199254740992']
  for (const lexeme of [...lexemes, '"4999"', 'null', '[4999]', '9'.repeat(30)]) {
    const text = JSON.stringify(event('payment_intent.succeeded', intent()))
    const changed = text.replace('"amount_received":4999', `"amount_received":${lexeme}`)
    assert.notEqual(changed, text)
    assert.deepEqual(await interpretText(changed), { ...withoutAmount, status: 'paid' }, lexeme)
  }
  assert.deepEqual(await succeeded({ amount_received: undefined }), {
    ...withoutAmount,
    status: 'paid',
  })
})

test('minor units are taken as they are, with no exponent applied', async () => {
  const cases = [
    ['jpy', 5000, 'JPY', 5000n],
    ['kwd', 12340, 'KWD', 12340n],
    ['usd', 0, 'USD', 0n],
    ['uah', Number.MAX_SAFE_INTEGER, 'UAH', 9007199254740991n],
  ] as const
  for (const [currency, received, code, amount] of cases) {
    const outcome = await succeeded({ currency, amount_received: received })
    assert.deepEqual(outcome, { ...fromIntent, status: 'paid', currency: code, amount })
  }
})

test('a currency in any other spelling than Stripe has is left out', async () => {
  const { currency: _, ...withoutCurrency } = fromIntent
  const spellings = [
    'UAH',
    'Uah',
    ' uah',
    'uah ',
    'uah\u200b',
    'ｕａｈ',
    'uaı',
    'uſd',
    '980',
    'ua',
    '',
  ]
  for (const currency of [...spellings, null, 980, ['uah']]) {
    const outcome = await succeeded({ currency })
    assert.deepEqual(outcome, { ...withoutCurrency, status: 'paid' }, String(currency))
  }
})
