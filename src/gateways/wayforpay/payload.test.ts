import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { judgementOf } from '../../../test/support/judgement-of.ts'
import type { Credentials } from '../credential-fields.ts'
import {
  account,
  approved,
  contextOf,
  credentialsOf,
  formOf,
  hmac,
  jsonOf,
  now,
  paymentId,
  requestOf,
  signedFields,
  without,
  type RawFields,
} from '../../../test/gateways/wayforpay/callbacks.ts'
import { wayforpay } from './index.ts'
import { signedFieldNames } from './payload.ts'

const credentials = credentialsOf()
const verdictOf = (text: string, using: Credentials = credentials) =>
  judgementOf(wayforpay.verify(requestOf(text), using, now))
const fieldsVerdict = (fields: RawFields, using?: Credentials) => verdictOf(jsonOf(fields), using)

const valid = { valid: true }
const refused = (reason: string) => ({ valid: false, reason })

test('signs of a form inside JSON change nothing, and a relay may have taken it for a name', () => {
  const text = jsonOf({
    ...approved,
    clientName: '"A & B = C + 100% %41 ;}=1"',
    repayUrl: '"?a=1&b=2"',
  })
  for (const body of [text, `${text}=`]) {
    assert.deepEqual(verdictOf(body), valid)
    const payload = wayforpay.parse(requestOf(body))
    assert.ok(payload.kind === 'json' && payload.value instanceof Map)
    assert.equal(payload.value.get('clientName'), 'A & B = C + 100% %41 ;}=1')
    assert.equal(payload.text, text)
    assert.equal(payload.exact, body === text)
  }
  for (const body of [
    `${text}==`,
    `${text}=x`,
    `${text}&`,
    `a=${text}`,
    encodeURIComponent(text),
  ]) {
    assert.notDeepEqual(verdictOf(body), valid, body.slice(-9))
  }
})

test('every irregular body is refused with its own reason', () => {
  const cases: readonly (readonly [body: string, reason: string])[] = [
    ['', 'empty'],
    [' ', 'signed_field_missing'],
    ['null', 'signed_field_missing'],
    ['true', 'signed_field_missing'],
    ['1', 'signed_field_missing'],
    ['"x"', 'signed_field_missing'],
    ['[]', 'signed_field_missing'],
    ['{}', 'signed_field_missing'],
    ['{', 'invalid_json'],
    [`[${jsonOf(approved)}]`, 'signed_field_missing'],
    [jsonOf(approved).replace('}', ',}'), 'invalid_json'],
    [jsonOf(approved).replace('{', '{"amount":1,'), 'duplicate_key'],
    [jsonOf(approved).replace('{', '{"\\u0061mount":1,'), 'duplicate_key'],
    [`{"a":${'['.repeat(65)}${']'.repeat(65)}}`, 'too_deep'],
    [`${formOf(approved)}&amount=1`, 'duplicate_key'],
    [`${formOf(approved)}&x=%zz`, 'invalid_form'],
    [`${formOf(approved)}&x=%ff`, 'invalid_utf8'],
    [formOf(approved).replace('amount=', 'amount[]='), 'signature_mismatch'],
    [formOf(approved).replace('amount=', 'amount[0]='), 'signature_mismatch'],
    [formOf(approved).replaceAll('&', ';'), 'signed_field_has_separator'],
    ['<xml/>', 'signed_field_missing'],
    [`${jsonOf(approved)}\0`, 'nul_character'],
  ]
  for (const [body, reason] of cases) {
    assert.deepEqual(verdictOf(body), refused(reason), body.slice(0, 80))
  }
  const broken = { kind: 'unreadable', reason: 'invalid_json' }
  assert.deepEqual(wayforpay.parse(requestOf('{"a":}=')), broken)
  const utf16 = Buffer.from(`\ufeff${jsonOf(approved)}`, 'utf16le')
  const wide = wayforpay.verify({ headers: {}, body: utf16 }, credentials, now)
  assert.deepEqual(wide, refused('invalid_utf8'))
})

const mustBeThere: ReadonlySet<string> = new Set([
  'merchantAccount',
  'orderReference',
  'transactionStatus',
])

test('each of the eight fields is one text or number, and of some an empty one is as good', () => {
  for (const name of signedFieldNames) {
    const verdict = (raw: string) => fieldsVerdict(signedFields({ [name]: raw }))
    for (const raw of ['true', 'false', '[]', '["1"]', '{}', '{"number":"1"}']) {
      assert.deepEqual(verdict(raw), refused('signed_field_not_scalar'), `${name} ${raw}`)
    }
    const empty = !mustBeThere.has(name)
    const absent = fieldsVerdict(without(signedFields({ [name]: 'null' }), name))
    assert.deepEqual(absent, empty ? valid : refused('signed_field_missing'), name)
    assert.deepEqual(verdict('null'), empty ? valid : refused('signed_field_not_scalar'), name)
    assert.deepEqual(verdict('""'), empty ? valid : refused('signed_field_empty'), name)
    assert.deepEqual(verdict('"\\ud800"'), refused('signed_field_ill_formed'), name)
    for (const raw of ['";"', '"a;b"', '"UAH;"', '"\\u003b1100"']) {
      assert.deepEqual(verdict(raw), refused('signed_field_has_separator'), `${name} ${raw}`)
    }
  }
})

test('an order that expired unpaid has neither code nor card: signed so, it is canceled', async () => {
  const expired = { transactionStatus: '"Expired"', reasonCode: '1124' }
  const bodies = ['null', '""'].map((raw) =>
    signedFields({ ...expired, authCode: raw, cardPan: raw }),
  )
  for (const body of [
    ...bodies,
    ...bodies.map((one) => without(without(one, 'authCode'), 'cardPan')),
  ]) {
    assert.deepEqual(fieldsVerdict(body), valid)
    const [outcome] = await wayforpay.interpret(
      wayforpay.parse(requestOf(jsonOf(body))),
      contextOf(),
    )
    assert.equal(outcome?.type === 'payment' && outcome.status, 'canceled')
  }
})

test('a value that is taken away from what was signed with it is a mismatch', () => {
  for (const name of signedFieldNames.filter((one) => !mustBeThere.has(one))) {
    for (const body of [without(approved, name), { ...approved, [name]: 'null' }]) {
      assert.deepEqual(fieldsVerdict(body), refused('signature_mismatch'), name)
    }
  }
})

test('a semicolon moved across a border, with the signed text the same, is refused', () => {
  const moved = { authCode: '"602318;44****4441"', cardPan: '""' }
  assert.deepEqual(fieldsVerdict({ ...approved, ...moved }), refused('signed_field_has_separator'))
  const shifted = { orderReference: `"${paymentId};150.75"`, amount: '"UAH"', currency: '"602318"' }
  const more = { authCode: '"44****4441"', cardPan: '"Approved"', transactionStatus: '"1100"' }
  assert.deepEqual(
    fieldsVerdict({ ...approved, ...shifted, ...more, reasonCode: '""' }),
    refused('signed_field_has_separator'),
  )
  assert.deepEqual(fieldsVerdict({ ...approved, reason: '"a;b"' }), valid, 'not a signed field')
})

test('an amount is signed as written, and any other spelling of it is refused', () => {
  for (const amount of ['150.750', '1.5075e2', '"150.750"', '150.76', '15075', '"150.75 "']) {
    const verdict = fieldsVerdict({ ...approved, amount })
    assert.deepEqual(verdict, refused('signature_mismatch'), amount)
    assert.deepEqual(fieldsVerdict(signedFields({ amount })), valid, amount)
  }
  assert.deepEqual(fieldsVerdict({ ...approved, amount: '"150.75"' }), valid, 'the same text')
})

test('empty items dropped from the signed text are a mismatch', () => {
  const texts = [account, paymentId, '150.75', 'UAH', 'Declined', '1101']
  const fields = {
    ...approved,
    authCode: '""',
    cardPan: '""',
    transactionStatus: '"Declined"',
    reasonCode: '1101',
    merchantSignature: `"${hmac(texts.join(';'))}"`,
  }
  assert.deepEqual(fieldsVerdict(fields), refused('signature_mismatch'))
})

const word = fc.oneof(
  fc.constantFrom('', 'UAH', '150.75', '1', 'Approved', '1100', paymentId, '44****4441'),
  fc.string({ maxLength: 3 }).map((text) => text.replaceAll(';', '')),
)

/** A signed text of our account, and which of its semicolons are taken for borders. */
const recut = fc.array(word, { minLength: 7, maxLength: 10 }).chain((words) =>
  fc.record({
    words: fc.constant([account, ...words]),
    borders: fc.subarray(
      words.map((_, index) => index + 1),
      { minLength: 7, maxLength: 7 },
    ),
    /** How each empty item is written. */
    empties: fc.array(fc.constantFrom('text', 'null', 'absent'), { minLength: 8, maxLength: 8 }),
  }),
)

test('a signed text is valid as eight fields in one way at most', () => {
  let accepted = 0
  fc.assert(
    fc.property(recut, ({ words, borders, empties }) => {
      const pieces = [0, ...borders].map((from, piece) =>
        words.slice(from, borders[piece] ?? words.length).join(';'),
      )
      const fields = {
        ...Object.fromEntries(
          signedFieldNames.flatMap((name, piece) => {
            const text = pieces[piece] ?? ''
            if (text !== '' || empties[piece] === 'text') return [[name, JSON.stringify(text)]]
            return empties[piece] === 'null' ? [[name, 'null']] : []
          }),
        ),
        merchantSignature: `"${hmac(words.join(';'))}"`,
      }
      assert.equal(pieces.join(';'), words.join(';'), 'the signature is right for every cut')
      const found = fieldsVerdict(fields)
      if (!('valid' in found) || !found.valid) return
      accepted += 1
      assert.deepEqual(pieces, words)
    }),
    { numRuns: 3000 },
  )
  assert.ok(accepted > 0, 'some of them are valid')
})
