import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storedBody } from '../../../test/support/stored-body.ts'
import {
  credentialsOf,
  envelope,
  formOf,
  key,
  otherPaymentId,
  paidOrder,
  paymentId,
  requestOf,
  sha1Hex,
  signed,
  xmlOf,
} from '../../../test/gateways/hutko/callbacks.ts'
import { hutko } from './index.ts'

const stored = (body: string) =>
  storedBody(hutko.verify(requestOf(body), credentialsOf(), new Date()))

/**
 * What is signed of `paidOrder`, by name, the signature that openssl makes over it, and what is empty.
 */
const signedPart =
  '{"actual_amount":"4999","actual_currency":"UAH","amount":"4999","approval_code":"06A91F",' +
  '"card_bin":516874,"card_type":"MasterCard","currency":"UAH","eci":"7",' +
  '"masked_card":"516874XXXXXX4309","merchant_id":4815162,' +
  `"order_id":"${paymentId}","order_status":"approved","order_time":"14.02.2026 09:05:59",` +
  '"payment_id":917204418,"payment_system":"card","response_status":"success",' +
  '"reversal_amount":"0","rrn":"732198450017","sender_email":"olena@example.org",' +
  '"settlement_amount":"0","tran_type":"purchase",' +
  '"signature":"20b4d8bb50978e44c9ff68c0a8173b160a8ae442",' +
  '"fee":"","merchant_data":"","parent_order_id":"","product_id":"","rectoken":"",' +
  '"rectoken_lifetime":"","response_code":"","response_description":"","sender_account":"",' +
  '"sender_cell_phone":"","settlement_currency":"","settlement_date":"","verification_status":""}'

test('of protocol 1.0 the signed parameters are stored as they came, with their signature', () => {
  const paid = signed(paidOrder)
  assert.equal(stored(JSON.stringify(paid)), signedPart)
  assert.equal(stored(JSON.stringify({ response: paid })), signedPart)
  // A form and XML have no numbers.
  const texts = signedPart.replaceAll(/:(\d+),/g, ':"$1",')
  assert.equal(stored(formOf(paid)), texts)
  assert.equal(stored(xmlOf(paid)), texts)
})

test('what anybody can put to the signed parameters is not stored', () => {
  const unsigned = { zz: '', x_new: null, response_signature_string: 'anything' }
  assert.equal(stored(JSON.stringify({ ...unsigned, ...signed(paidOrder) })), signedPart)
})

test('a number is stored as it is written', () => {
  const body = `{"a":1.50,"b":1e3,"signature":"${sha1Hex(`${key}|1.50|1e3`)}"}`
  assert.equal(stored(body), body)
})

test('of protocol 2.0 the version, the data and the signature are stored', () => {
  const callback = envelope(paidOrder)
  const signedPart = JSON.stringify(callback)
  assert.match(signedPart, /^\{"version":"2\.0","data":"[\w+/]+=*","signature":"[\da-f]{40}"\}$/)
  const beside = { order_id: otherPaymentId, order_status: 'declined', ...callback, x: 1 }
  for (const body of [
    signedPart,
    JSON.stringify({ response: callback }),
    formOf(callback),
    xmlOf(callback),
    JSON.stringify(beside),
    formOf(beside),
    xmlOf(beside),
  ]) {
    assert.equal(stored(body), signedPart, body.slice(0, 60))
  }
})
