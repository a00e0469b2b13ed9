import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Wayforpay } from 'wayforpay-ts-integration'
import type { Credentials } from '../credential-fields.ts'
import { plainAcknowledgment } from '../gateway.ts'
import {
  account,
  approved,
  credentialsOf,
  formOf,
  hmac,
  jsonOf,
  now,
  paymentId,
  renewalReference,
  requestOf,
  secretKey,
  signedFields,
  type RawFields,
} from '../../../test/gateways/wayforpay/callbacks.ts'
import { wayforpay } from './index.ts'

const answerTo = (text: string, using: Credentials = credentialsOf(), at = now) =>
  wayforpay.acknowledge(wayforpay.parse(requestOf(text)), using, at)

test('the answer has exactly four fields, repeats the reference as received and is signed', () => {
  // Signatures made with OpenSSL.
  const cases: readonly (readonly [reference: string, signature: string])[] = [
    [paymentId, '16be7c59767dcd1625e1862028309a49'],
    [renewalReference, '79044486fda5ecd59211f9c85be12ec0'],
    ['замовлення 7', '74710a315d882aa6608148e7c1a4fea8'],
  ]
  for (const [reference, signature] of cases) {
    const fields = signedFields({ orderReference: JSON.stringify(reference) })
    for (const text of [jsonOf(fields), formOf(fields)]) {
      assert.deepEqual(answerTo(text), {
        contentType: 'application/json',
        body: `{"orderReference":"${reference}","status":"accept","time":1795176000,"signature":"${signature}"}`,
      })
    }
  }
})

test('the third-party package signs the same answer', () => {
  const sdk = new Wayforpay({ merchantLogin: account, merchantSecret: secretKey })
  const { body } = answerTo(jsonOf(approved))
  const { orderReference, status, time, signature } = JSON.parse(body) as Record<string, unknown>
  const texts = [orderReference, status, time].map(String)
  assert.equal(signature, sdk['createSignature'](texts))
})

test('each delivery is answered afresh', () => {
  const later = new Date(now.getTime() + 1000)
  const { body } = answerTo(jsonOf(approved), credentialsOf(), later)
  assert.match(body, /"time":1795176001,/)
  assert.ok(body.includes(hmac(`${paymentId};accept;1795176001`)))
})

test('the answer is signed with the secret that the callback was signed with', () => {
  const using = credentialsOf({ WAYFORPAY_SECRET_KEY: `the_new_secret_key,${secretKey}` })
  assert.equal(answerTo(jsonOf(approved), using).body, answerTo(jsonOf(approved)).body)
  const renewed = jsonOf(signedFields({}, 'the_new_secret_key'))
  const signature = hmac(`${paymentId};accept;1795176000`, 'the_new_secret_key')
  assert.ok(answerTo(renewed, using).body.includes(signature))
})

test('every signed callback gets the answer, whatever it means to us', () => {
  const changes: readonly RawFields[] = [
    { transactionStatus: '"Martian"' },
    { orderReference: '"not ours"' },
    { amount: '"ten"', currency: '"uah"' },
    { transactionStatus: '"RefundInProcessing"' },
  ]
  for (const change of changes) {
    assert.match(answerTo(jsonOf(signedFields(change))).body, /"status":"accept"/)
  }
})

test('nothing is signed for anybody else', () => {
  const attempts = [
    '',
    '{}',
    '[]',
    '{"orderReference":"a"}',
    jsonOf({ ...approved, amount: '1' }),
    jsonOf({ ...approved, merchantSignature: '""' }),
    jsonOf(signedFields({ orderReference: `"${paymentId};accept;1"` })),
    jsonOf(signedFields({}, 'another_secret_key')),
    jsonOf(signedFields({ merchantAccount: '"shop_two"' })),
  ]
  for (const text of attempts) assert.deepEqual(answerTo(text), plainAcknowledgment, text)
  const none = credentialsOf({ WAYFORPAY_SECRET_KEY: '' })
  assert.deepEqual(answerTo(jsonOf(approved), none), plainAcknowledgment)
})

test('a reference with quotes and controls is repeated as JSON', () => {
  const reference = 'a"}\n\u0000<script>'
  const { body } = answerTo(jsonOf(signedFields({ orderReference: JSON.stringify(reference) })))
  const answer = JSON.parse(body) as Record<string, unknown>
  assert.deepEqual(Object.keys(answer), ['orderReference', 'status', 'time', 'signature'])
  assert.equal(answer['orderReference'], reference)
  assert.equal(answer['signature'], hmac(`${reference};accept;1795176000`))
})
