import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testWithProviderData } from '../../../test/support/provider-data.ts'
import { isQuittanceError } from '../../kernel/errors.ts'
import { secret } from '../../kernel/secret.ts'
import { notConfigured } from '../credentials.ts'
import { moneyFault } from './money-fault.ts'
import { paymentId, privateKey, publicKey, sign } from '../../../test/gateways/liqpay/callbacks.ts'
import {
  checkoutOf,
  formOf,
  paymentOf,
  postForm,
  rotated,
  sentText,
} from '../../../test/gateways/liqpay/operations.ts'
import { startLiqpay } from '../../../test/providers/liqpay.ts'
import { liqpay } from './index.ts'
import { decimalOf, signData, type DataFields } from './signed-data.ts'

const config = { public_key: publicKey, private_key: privateKey, api_base: 'https://liqpay.test/' }
const form = (fields: Parameters<typeof checkoutOf>[0] = {}) =>
  formOf(checkoutOf(fields), { config })
const textOf = (fields: Parameters<typeof checkoutOf>[0] = {}) =>
  sentText(new URLSearchParams(form(fields).fields).toString())

const whole =
  `{"version":3,"public_key":"${publicKey}","action":"pay","amount":842.35,"currency":"UAH",` +
  `"description":"Payment ${paymentId.slice(-8)}","order_id":"${paymentId}",` +
  `"server_url":"https://shop.example/billing/webhooks/liqpay",` +
  `"result_url":"https://shop.example/billing/return/${paymentId}",` +
  `"expired_date":"2026-11-20 13:00:00"}`

test('the form carries the order, and both of our URLs, to the checkout', () => {
  const { action, fields } = form()
  assert.equal(action, 'https://liqpay.test/api/3/checkout')
  assert.deepEqual(Object.keys(fields), ['data', 'signature'])
  assert.equal(textOf(), whole)
  assert.equal(fields['signature'], sign(fields['data'] ?? ''))
})

test('the checkout is LiqPay’s own unless another base is set', () => {
  const { api_base: _base, ...keys } = config
  const { action } = formOf(checkoutOf(), { config: keys })
  assert.equal(action, 'https://www.liqpay.ua/api/3/checkout')
})

test('the description is the merchant’s, if he has one', () => {
  const description = 'Чай "зелений" \\ 2 шт.'
  const sent = textOf({ payment: paymentOf({ description }) })
  assert.equal((JSON.parse(sent) as { description?: string }).description, description)
  assert.equal(textOf({ payment: paymentOf({ description: ' ' }) }), whole)
})

test('the card’s token is asked for only if the card is to be saved', () => {
  assert.equal(textOf({ saveCard: true }), `${whole.slice(0, -1)},"recurringbytoken":"1"}`)
})

test('the checkout opens in the customer’s language, if LiqPay has it', () => {
  for (const [locale, language] of [
    ['uk-UA', 'uk'],
    ['en', 'en'],
  ] as const) {
    const sent = textOf({ payment: paymentOf({ customer: { locale } }) })
    assert.equal(sent, `${whole.slice(0, -1)},"language":"${language}"}`)
  }
  for (const locale of ['de-DE', '"', 7]) {
    assert.equal(textOf({ payment: paymentOf({ customer: { locale } }) }), whole)
  }
})

test('an amount is written by its digits, never as a float', () => {
  const cases = [
    [1n, '0.01'],
    [435n, '4.35'],
    [15070n, '150.7'],
    [18000n, '180'],
    [999999999n, '9999999.99'],
  ] as const
  for (const [amount, text] of cases) {
    assert.equal(textOf({ payment: paymentOf({ amount }) }), whole.replace('842.35', text))
  }
  const largest = decimalOf({ amount: 9007199254740991n, currency: 'UAH' })
  const { data } = signData(secret(privateKey), { amount: largest })
  assert.equal(sentText(`data=${encodeURIComponent(data)}`), '{"amount":90071992547409.91}')
  assert.throws(() => decimalOf({ amount: 1n, currency: 'XYZ' }), { code: 'payment_invalid' })
})

test('LiqPay takes three currencies, something, and less than ten million', () => {
  for (const currency of ['UAH', 'USD', 'EUR']) {
    for (const amount of [1n, 999_999_999n]) {
      assert.equal(moneyFault({ amount, currency }), undefined)
    }
    assert.equal(moneyFault({ amount: 0n, currency }), 'LiqPay takes no payment of nothing')
    assert.equal(
      moneyFault({ amount: 1_000_000_000n, currency }),
      'LiqPay takes less than ten million',
    )
  }
  for (const currency of ['GBP', 'JPY', 'uah', 'XYZ']) {
    assert.equal(moneyFault({ amount: 1n, currency }), 'LiqPay takes UAH, USD and EUR')
  }
})

test('without keys, or for a payment of another shop, there is no form', () => {
  const checkout = liqpay.checkout
  assert.ok(checkout?.kind === 'form')
  assert.throws(() => checkout.form(checkoutOf(), notConfigured), {
    code: 'gateway_not_configured',
  })
  assert.throws(
    () => form({ payment: paymentOf({ merchantAccount: 'i00000000777' }) }),
    (error) =>
      isQuittanceError(error) &&
      error.code === 'gateway_not_configured' &&
      /i00000000777/.test(error.message),
  )
})

test('LiqPay takes the form, also twice, and with each way of saying it', async () => {
  await using standIn = await startLiqpay()
  assert.equal(await postForm(standIn, { saveCard: true }), 200)
  assert.equal(await postForm(standIn, { saveCard: true }), 200)
  assert.equal(standIn.checkouts(paymentId), 1)
  assert.equal(await postForm(standIn), 200)
  assert.deepEqual(standIn.takeFaults(), [`${paymentId} was posted with other data`])
})

test('while the key is replaced, forms are signed with the first one', async () => {
  await using standIn = await startLiqpay()
  const post = async (config: typeof standIn.config) => postForm({ ...standIn, config })
  assert.equal(await post(rotated(standIn, 'last').config), 200)
  assert.equal(await post(rotated(standIn, 'first').config), 400)
  assert.deepEqual(standIn.takeFaults(), ['pay: the signature is wrong'])
})

interface SignedPair {
  readonly name: string
  readonly secret: string
  readonly data: string
  readonly signature: string
}

testWithProviderData('requests of the published examples come out the same', (data) => {
  const { signing } = data.readJson('vectors/liqpay-signing.json') as {
    readonly signing: readonly SignedPair[]
  }
  const compact = signing.flatMap((pair) => {
    const text = Buffer.from(pair.data, 'base64').toString('utf8')
    return /^\{"\S+\}$/.test(text) ? [{ ...pair, fields: JSON.parse(text) as DataFields }] : []
  })
  assert.ok(compact.length >= 2, `only ${compact.length} requests`)
  for (const { name, secret: key, data, signature, fields } of compact) {
    assert.deepEqual(signData(secret(key), fields), { data, signature }, name)
  }
})
