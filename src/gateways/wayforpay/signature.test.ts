import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { judgementOf } from '../../../test/support/judgement-of.ts'
import { Wayforpay } from 'wayforpay-ts-integration'
import { readCredentials } from '../credentials.ts'
import type { RawRequest } from '../gateway.ts'
import type { Credentials } from '../credential-fields.ts'
import {
  account,
  approved,
  credentialsOf,
  formOf,
  hmac,
  jsonOf,
  now,
  renewalReference,
  requestOf,
  secretKey,
  signedFields,
  signedTextOf,
  without,
  type RawFields,
} from '../../../test/gateways/wayforpay/callbacks.ts'
import { wayforpay } from './index.ts'
import { signedFieldNames } from './payload.ts'
import { authenticate } from './signature.ts'

const credentials = credentialsOf()
const verdictOf = (text: string, using: Credentials = credentials) =>
  judgementOf(wayforpay.verify(requestOf(text), using, now))
const fieldsVerdict = (fields: RawFields, using?: Credentials) => verdictOf(jsonOf(fields), using)

const valid = { valid: true }
const refused = (reason: string) => ({ valid: false, reason })

/** Signatures made with OpenSSL: printf '<texts joined by ;>' | openssl dgst -md5 -hmac <key>. */
const known: readonly (readonly [signature: string, changes: RawFields])[] = [
  ['a950e1ec63e11a34580c13bb024b0ad1', {}],
  [
    '6459ff6b874c812910fcf9528c0bfd9e',
    {
      amount: '490',
      authCode: '""',
      cardPan: 'null',
      transactionStatus: '"Declined"',
      reasonCode: '1104',
    },
  ],
  [
    'eb5bff4851b65a310e464955e002c4b8',
    { authCode: 'null', cardPan: '""', transactionStatus: '"Declined"', reasonCode: '1151' },
  ],
  ['1ee21f327b5234eea0f249c542dd6041', { amount: '100.00' }],
  ['1ee21f327b5234eea0f249c542dd6041', { amount: '"100.00"' }],
  ['7df75b36437e34779cdb74561ff34e66', { amount: '1e2' }],
  ['f606a08819d0c5aa5c4600c866ab9caf', { amount: '100' }],
  ['31baa2eaefa02d2020efac12b2d40ac7', { orderReference: `"${renewalReference}"` }],
  ['2ac51932257294106249f6d55aafaf33', { transactionStatus: '"Refunded"' }],
  [
    '0b2939816356439f742f011d3b6298de',
    {
      orderReference: '"замовлення 7"',
      authCode: 'null',
      cardPan: 'null',
      transactionStatus: '"Expired"',
      reasonCode: '1124',
    },
  ],
]

test('known answers are valid, and each signature is for its own fields only', () => {
  for (const [signature, changes] of known) {
    const fields = { ...approved, ...changes, merchantSignature: `"${signature}"` }
    assert.deepEqual(fieldsVerdict(fields), valid, JSON.stringify(changes))
    for (const [other] of known) {
      if (other === signature) continue
      const swapped = { ...fields, merchantSignature: `"${other}"` }
      assert.deepEqual(fieldsVerdict(swapped), refused('signature_mismatch'))
    }
  }
})

test('a signature by the third-party package is valid', () => {
  const sdk = new Wayforpay({ merchantLogin: account, merchantSecret: secretKey })
  for (const [, changes] of known) {
    const fields = { ...approved, ...changes }
    const texts = signedFieldNames.map((name) => signedTextOf(fields[name]))
    const merchantSignature = `"${sdk['createSignature'](texts)}"`
    assert.deepEqual(fieldsVerdict({ ...fields, merchantSignature }), valid)
  }
})

test('the same callback is valid under every content type, in any layout, and as a form', () => {
  const types = ['application/x-www-form-urlencoded', 'application/json', 'text/plain', '', 'x\ty']
  const bodies = [
    jsonOf(approved),
    ` \r\n\t${jsonOf(approved)}\n`,
    `\ufeff${jsonOf(approved)}`,
    jsonOf(approved).replaceAll('","', '" ,\n "'),
    jsonOf(Object.fromEntries(Object.entries(approved).toReversed())),
    formOf(approved),
    `&${formOf(approved)}&`,
  ]
  for (const body of bodies) {
    for (const type of types) {
      const request: RawRequest = { ...requestOf(body), headers: { 'content-type': type } }
      assert.deepEqual(
        judgementOf(wayforpay.verify(request, credentials, now)),
        valid,
        `${type} ${body}`,
      )
    }
    assert.deepEqual(verdictOf(body), valid, 'no header is needed')
  }
})

test('what has no fields is signed by nobody', () => {
  const refusal = { ok: false, reason: 'body_not_an_object' }
  assert.deepEqual(authenticate(undefined, credentials), refusal)
})

test('every irregular signature is refused with its own reason', () => {
  const good = signedTextOf(approved['merchantSignature'])
  const text = signedFieldNames.map((name) => signedTextOf(approved[name])).join(';')
  const md5 = (input: string) => createHash('md5').update(input).digest('hex')
  const cases: readonly (readonly [raw: string, reason: string])[] = [
    ['null', 'signature_missing'],
    ['""', 'signature_missing'],
    ['true', 'signature_malformed'],
    ['0', 'signature_malformed'],
    ['[]', 'signature_malformed'],
    [`["${good}"]`, 'signature_malformed'],
    ['{}', 'signature_malformed'],
    ['" "', 'signature_malformed'],
    ['"zz"', 'signature_malformed'],
    [`"${good.toUpperCase()}"`, 'signature_malformed'],
    [`"${good.slice(0, 30)}"`, 'signature_malformed'],
    [`"${good}00"`, 'signature_malformed'],
    [`"${good} "`, 'signature_malformed'],
    [`"${good.slice(0, 31)}g"`, 'signature_malformed'],
    [`"${'0'.repeat(32)}"`, 'signature_mismatch'],
    ['"0e462097431906509019562988736854"', 'signature_mismatch'],
    [`"${md5(`${secretKey};${text}`)}"`, 'signature_mismatch'],
    [`"${md5(`${text};${secretKey}`)}"`, 'signature_mismatch'],
    [`"${hmac(`${text};`)}"`, 'signature_mismatch'],
    ...['', 'undefined', 'null', '[object Object]', 'false', `${secretKey} `].map(
      (key) => [`"${hmac(text, key)}"`, 'signature_mismatch'] as const,
    ),
  ]
  for (const [raw, reason] of cases) {
    assert.deepEqual(fieldsVerdict({ ...approved, merchantSignature: raw }), refused(reason), raw)
  }
  assert.deepEqual(
    fieldsVerdict(without(approved, 'merchantSignature')),
    refused('signature_missing'),
  )
})

test('a callback of another merchant account is refused, also one that our secret has signed', () => {
  for (const name of ['shop_two', 'SHOP_ONE', 'shop_one ', 'test_merch_n1']) {
    const fields = signedFields({ merchantAccount: JSON.stringify(name) })
    assert.deepEqual(fieldsVerdict(fields), refused('merchant_account_mismatch'), name)
  }
  const other = credentialsOf({ WAYFORPAY_MERCHANT_ACCOUNT: 'shop_two' })
  assert.deepEqual(fieldsVerdict(approved, other), refused('merchant_account_mismatch'))
})

test('every configured secret counts, and a secret that was taken away does not', () => {
  const using = (keys: string) => credentialsOf({ WAYFORPAY_SECRET_KEY: keys })
  assert.deepEqual(fieldsVerdict(approved, using(`the_new_secret_key,${secretKey}`)), valid)
  assert.deepEqual(fieldsVerdict(approved, using(`${secretKey},the_old_secret_key`)), valid)
  assert.deepEqual(
    fieldsVerdict(approved, using('the_new_secret_key')),
    refused('signature_mismatch'),
  )
})

test('without a secret or a merchant account everything is refused', () => {
  for (const blank of ['', '  ', 'undefined', 'null']) {
    for (const name of ['WAYFORPAY_SECRET_KEY', 'WAYFORPAY_MERCHANT_ACCOUNT']) {
      const using = credentialsOf({ [name]: blank })
      assert.equal(using.configured, false)
      const fields = signedFields({}, name === 'WAYFORPAY_SECRET_KEY' ? blank : secretKey)
      assert.deepEqual(fieldsVerdict(fields, using), refused('not_configured'), name)
    }
  }
  const bare = { secrets: {}, settings: credentials.settings, configured: false }
  assert.deepEqual(fieldsVerdict(approved, bare), refused('not_configured'))
})

test('the published test credentials are refused in production, and count as test mode', () => {
  const values = {
    WAYFORPAY_MERCHANT_ACCOUNT: 'test_merch_n1',
    WAYFORPAY_SECRET_KEY: 'flk3409refn54t54t*FNJRET',
  }
  for (const name of Object.keys(values)) {
    assert.throws(() => credentialsOf({ [name]: values[name as keyof typeof values] }), {
      code: 'setting_invalid',
      message: new RegExp(name),
    })
  }
  const using = readCredentials(wayforpay, values, { production: false })
  const fields = signedFields({ merchantAccount: '"test_merch_n1"' }, values.WAYFORPAY_SECRET_KEY)
  assert.deepEqual(fieldsVerdict(fields, using), valid)
  assert.deepEqual(wayforpay.account(using), { merchantAccount: 'test_merch_n1', live: false })
  assert.deepEqual(wayforpay.account(credentials), { merchantAccount: account, live: true })
  const none = readCredentials(wayforpay, {}, { production: true })
  assert.deepEqual(wayforpay.account(none), { merchantAccount: null, live: null })
})

test('any single changed character of a signed text, or of the signature, is refused', () => {
  const names = [...signedFieldNames, 'merchantSignature']
  const change = fc.record({
    name: fc.constantFrom(...names),
    at: fc.nat(60),
    text: fc.string({ maxLength: 2, unit: 'grapheme' }),
  })
  fc.assert(
    fc.property(change, ({ name, at, text }) => {
      const before = signedTextOf(approved[name])
      const changed = before.slice(0, at) + text + before.slice(at + 1)
      fc.pre(changed !== before)
      const fields = { ...approved, [name]: JSON.stringify(changed) }
      assert.notDeepEqual(fieldsVerdict(fields), valid)
    }),
  )
})
