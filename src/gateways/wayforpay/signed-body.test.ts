import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storedBody } from '../../../test/support/stored-body.ts'
import {
  approved,
  credentialsOf,
  formOf,
  jsonOf,
  now,
  paymentId,
  requestOf,
  signedFields,
  without,
  type RawFields,
} from '../../../test/gateways/wayforpay/callbacks.ts'
import { wayforpay } from './index.ts'

const stored = (body: string) => storedBody(wayforpay.verify(requestOf(body), credentialsOf(), now))

/** What is signed of the approved order, and the signature that OpenSSL makes over it. */
const signedPart =
  `{"merchantAccount":"shop_one","orderReference":"${paymentId}","amount":150.75,` +
  '"currency":"UAH","authCode":"602318","cardPan":"44****4441","transactionStatus":"Approved",' +
  '"reasonCode":1100,"merchantSignature":"a950e1ec63e11a34580c13bb024b0ad1"}'

/** What comes beside it, and is documented. */
const beside =
  '"email":"payer@example.com","createdDate":1795175900,"processingDate":1795175990,' +
  '"cardType":"Visa","reason":"Ok","fee":3.02,"paymentSystem":"card"'
const whole = signedPart.replace(/\}$/, `,${beside}}`)

test('the eight signed fields are stored as they came, and behind the signature what is documented', () => {
  const more = { ...approved, products: '[{"name":"a"}]', clientName: '"x"' }
  const reversed = Object.fromEntries(Object.entries(more).toReversed())
  for (const fields of [approved, more, reversed]) {
    assert.equal(stored(jsonOf(fields)), whole)
    assert.equal(stored(`${jsonOf(fields)}=`), whole)
  }
  // A form has no numbers.
  const texts = whole.replaceAll(/:([\d.]+),/g, ':"$1",')
  assert.equal(stored(formOf(approved)), texts)
})

test('a signed field that is null, empty or absent is stored so', () => {
  const odd = signedFields({ authCode: 'null', cardPan: '""', amount: '490.00' })
  const part = whole
    .replace('"602318"', 'null')
    .replace('"44****4441"', '""')
    .replace('150.75', '490.00')
    .replace(/"[\da-f]{32}"/, odd['merchantSignature'] ?? '')
  assert.equal(stored(jsonOf(odd)), part)
  assert.equal(stored(jsonOf(without(odd, 'authCode'))), part.replace('"authCode":null,', ''))
})

test('the token of a saved card is kept where it can be one, though nobody signs it', () => {
  const withToken = (raw: string) => stored(jsonOf({ ...approved, recToken: raw }))
  const longest = JSON.stringify('t'.repeat(255))
  for (const raw of ['"b1a2-c3"', '"1"', longest]) {
    assert.equal(withToken(raw), whole.replace(/\}$/, `,"recToken":${raw}}`))
  }
  for (const raw of ['""', 'null', '7', 'true', '["t"]', '{"t":"t"}', `"${'t'.repeat(256)}"`]) {
    assert.equal(withToken(raw), whole, raw.slice(0, 20))
  }
  const none: RawFields = without(approved, 'recToken')
  assert.equal(stored(jsonOf(none)), whole)
})

test('of what nobody signs, plain values are kept, 8 KiB of them at most', () => {
  const withFields = (more: RawFields) => stored(jsonOf({ ...approved, ...more }))
  assert.equal(withFields({ phone: 'null' }), whole.replace('"createdDate"', '"phone":null,$&'))
  assert.equal(withFields({ phone: '{"a":1}' }), whole)
  const long = withFields({ email: `"${'e'.repeat(5_000)}"`, reason: `"${'r'.repeat(5_000)}"` })
  assert.equal(long.length - signedPart.length < 8 * 1024, true)
  assert.match(long, /"email":"e{5000}".*"cardType":"Visa","fee":3\.02,/)
})
