import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SignInput } from '../../gateway.ts'
import {
  credentialsOf,
  hmac,
  now,
  paymentId,
  renewalReference,
  secretKey,
} from '../../../../test/gateways/wayforpay/callbacks.ts'
import { signInput } from '../../../../test/providers/kit.ts'
import { signedFieldNames } from '../payload.ts'
import { majorUnits } from './callback.ts'
import { wayforpaySigner } from './sign.ts'

const input = signInput(credentialsOf(), { now, payment: { id: paymentId, amount: 15_075n } })

const signed = (change: Partial<SignInput>) => wayforpaySigner.sign({ ...input, ...change })
const fieldsOf = (change: Partial<SignInput>) =>
  JSON.parse(signed(change).body) as Record<string, unknown>

test('a callback is written as PHP writes it', () => {
  const { headers, body } = signed({})
  assert.equal(headers['content-type'], 'application/x-www-form-urlencoded')
  assert.match(body, /^[\x20-\x7e]+$/)
  assert.match(body, /"issuerBankName":"\\u0422\\u0435/)
  assert.match(body, /"repayUrl":"https:\\\/\\\//)
  assert.match(body, /"orderReference":"[^"]+","merchantSignature":"[0-9a-f]{32}","amount":150.75,/)
  assert.match(body, /"createdDate":1795175910,"processingDate":1795176000,/)
  assert.match(body, /"authCode":"602318".*"phone":null.*"recToken":"".*"reasonCode":1100,/)
  assert.match(signed({ scenario: 'declined' }).body, /"authCode":"",/)
})

test('amounts are written exactly, without zeros at the end', () => {
  const cases: readonly (readonly [amount: bigint, currency: string, text: string])[] = [
    [15_075n, 'UAH', '150.75'],
    [49_000n, 'UAH', '490'],
    [49_010n, 'UAH', '490.1'],
    [1n, 'UAH', '0.01'],
    [0n, 'UAH', '0'],
    [500n, 'JPY', '500'],
    [1234n, 'KWD', '1.234'],
    [9_007_199_254_740_991n, 'UAH', '90071992547409.91'],
  ]
  for (const [amount, currency, text] of cases) assert.equal(majorUnits(amount, currency), text)
})

test('a renewal follows from the payment, or has the reference that it is known by', () => {
  const reference = `${paymentId}_WFPREG-8080904-1`
  assert.equal(fieldsOf({ scenario: 'renewed' })['orderReference'], reference)
  const payment = { ...input.payment, providerReference: renewalReference }
  assert.equal(fieldsOf({ payment })['orderReference'], renewalReference)
})

test('a saved card has the same token in every callback about its payment', () => {
  const { recToken } = fieldsOf({ scenario: 'card_saved' })
  assert.ok(typeof recToken === 'string' && recToken.length === paymentId.length)
  assert.notEqual(recToken, paymentId)
  assert.equal(fieldsOf({ scenario: 'card_saved' })['recToken'], recToken)
})

test('of several secrets the first signs', () => {
  const credentials = credentialsOf({ WAYFORPAY_SECRET_KEY: `the_new_secret_key,${secretKey}` })
  const fields = fieldsOf({ credentials })
  const texts = signedFieldNames.map((name) => String(fields[name]))
  assert.equal(fields['merchantSignature'], hmac(texts.join(';'), 'the_new_secret_key'))
})
