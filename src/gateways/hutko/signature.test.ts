import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { notConfigured } from '../credentials.ts'
import {
  credentialsOf,
  envelope,
  formOf,
  key,
  meaningOf,
  official,
  otherPaymentId,
  outcomesOf,
  paidOrder,
  paymentId,
  sha1Hex,
  signed,
  verdictOf,
  verdictOn,
  xmlOf,
  type Parameters,
} from '../../../test/gateways/hutko/callbacks.ts'

/** Computed with openssl over the text beside it. */
const knownText =
  'Kd93hfT0payment_key_7|4999|UAH|4999|06A91F|516874|MasterCard|UAH|7|516874XXXXXX4309|4815162|' +
  `${paymentId}|approved|14.02.2026 09:05:59|917204418|card|success|0|732198450017|` +
  'olena@example.org|0|purchase'
const knownSignature = '20b4d8bb50978e44c9ff68c0a8173b160a8ae442'
const paid = { ...paidOrder, signature: knownSignature }
const order = { ...paidOrder, merchant_data: 'Замовлення №7' }

test('a callback signed by hand is valid as JSON, wrapped, as a form and as XML', () => {
  assert.equal(sha1Hex(knownText), knownSignature)
  const bodies = [
    JSON.stringify(paid),
    JSON.stringify({ response: paid }),
    `\ufeff${JSON.stringify(paid, null, 2)}\n`,
    formOf(paid),
    xmlOf(paid),
    ` ${xmlOf(paid)
      .replaceAll('<fee></fee>', '<fee/>')
      .replaceAll(/(<\/\w+>)/g, '$1\n')}\n`,
  ]
  for (const body of bodies) {
    assert.equal(verdictOf(body), 'valid', body.slice(0, 80))
    assert.deepEqual(outcomesOf(body), meaningOf(), body.slice(0, 80))
  }
})

test('what the official package signs is valid, and it takes what we sign', () => {
  for (const parameters of [order, { ...order, x_new: 'Ї', Zeta: 0, _a: '0' }]) {
    assert.equal(verdictOn(signed(parameters)), 'valid')
    assert.equal(verdictOf(formOf(signed(parameters))), 'valid')
    assert.equal(verdictOf(xmlOf(signed(parameters))), 'valid')
  }
  assert.ok(official.validateResponse(paid, key))
})

test('the names are sorted by bytes: capitals, the low line, small letters', () => {
  const text = `${key}|1|2|3|4`
  const parameters = { a: '4', B: '2', _c: '3', A: '1' }
  assert.equal(verdictOn({ ...parameters, signature: sha1Hex(text) }), 'valid')
  assert.equal(
    verdictOn({ ...parameters, signature: sha1Hex(`${key}|1|4|2|3`) }),
    'signature_mismatch',
  )
})

test('zeros are signed in either spelling, empty texts and nulls are not', () => {
  const signature = sha1Hex(`${key}|0|0| |0.0`)
  const parameters = { a: 0, b: '0', c: ' ', d: '0.0', e: '', f: null, signature }
  assert.equal(verdictOn(parameters), 'valid')
  assert.equal(verdictOn({ ...parameters, e: 0 }), 'signature_mismatch')
  assert.equal(verdictOn({ ...parameters, a: '' }), 'signature_mismatch')
  // A number counts as it is written.
  const number = JSON.stringify({ a: 1, signature: sha1Hex(`${key}|1.50`) })
  assert.equal(verdictOf(number.replace(':1,', ':1.50,')), 'valid')
})

test('lists, objects and truth values are signed in no way', () => {
  for (const value of [true, false, [], ['a'], {}, { a: 'b' }]) {
    for (const text of [
      'true',
      'false',
      'a',
      '[object Object]',
      '1',
      'True',
      'Array',
      '',
      JSON.stringify(value),
    ]) {
      const signature = sha1Hex(text === '' ? key : `${key}|${text}`)
      assert.equal(verdictOn({ a: value, signature }), 'value_not_scalar', text)
    }
  }
})

test('a signature that is missing, malformed or made with another key is refused', () => {
  const cases: readonly (readonly [unknown, string])[] = [
    [undefined, 'signature_missing'],
    [null, 'signature_missing'],
    ['', 'signature_missing'],
    [true, 'signature_malformed'],
    [0, 'signature_malformed'],
    [[knownSignature], 'signature_malformed'],
    [{ toString: knownSignature }, 'signature_malformed'],
    [knownSignature.toUpperCase(), 'signature_malformed'],
    [` ${knownSignature}`, 'signature_malformed'],
    [knownSignature.slice(1), 'signature_malformed'],
    [`${knownSignature}00`, 'signature_malformed'],
    [`zz${knownSignature.slice(2)}`, 'signature_malformed'],
    ['0e12345678901234567890123456789012345678', 'signature_mismatch'],
    ['0'.repeat(40), 'signature_mismatch'],
    [sha1Hex(knownText.slice(key.length + 1)), 'signature_mismatch'],
    ...['', 'undefined', 'null', 'test'].map(
      (other) => [official.genSignature(paidOrder, other), 'signature_mismatch'] as const,
    ),
  ]
  for (const [signature, reason] of cases) {
    assert.equal(verdictOn({ ...paidOrder, signature }), reason, JSON.stringify(signature))
  }
})

test('every configured key counts, and none where the gateway is not configured', () => {
  const body = JSON.stringify(paid)
  assert.equal(verdictOf(body, credentialsOf(`new_key_0123456789,${key}`)), 'valid')
  assert.equal(verdictOf(body, credentialsOf('new_key_0123456789')), 'signature_mismatch')
  assert.equal(verdictOf(body, notConfigured), 'not_configured')
  assert.equal(verdictOf(body, credentialsOf('')), 'not_configured')
  assert.equal(verdictOf(body, credentialsOf(key, '')), 'not_configured')
  const keyless = { ...credentialsOf(), secrets: {} }
  assert.equal(verdictOf(body, keyless), 'signature_mismatch')
})

test('the signed string that comes along in test mode never counts', () => {
  const string = knownText.replace(key, '**********')
  assert.equal(verdictOn({ ...paid, response_signature_string: string }), 'valid')
  assert.equal(verdictOn({ ...paid, response_signature_string: 'anything' }), 'valid')
  const other = { ...paid, order_id: otherPaymentId, response_signature_string: string }
  assert.equal(verdictOn(other), 'signature_mismatch')
  assert.equal(verdictOn({ ...paid, response_signature_string: ['a'] }), 'value_not_scalar')
})

test('any other value of any parameter, a filled or a dropped one, is refused', () => {
  for (const name of Object.keys(paidOrder)) {
    for (const value of ['1', 'approved', 0]) {
      if (String(value) === String(paidOrder[name as keyof typeof paidOrder])) continue
      assert.equal(verdictOn({ ...paid, [name]: value }), 'signature_mismatch', name)
    }
  }
  for (const [name, value] of Object.entries(paidOrder).filter(([, given]) => given !== '')) {
    assert.equal(verdictOn({ ...paid, [name]: '' }), 'signature_mismatch', `${name} ${value}`)
  }
  assert.equal(verdictOn({ ...paid, x_new: '1' }), 'signature_mismatch')
})

test('bodies that have two readings, or none, are refused', () => {
  const body = JSON.stringify(paid)
  const cases: readonly (readonly [string | Uint8Array, string])[] = [
    ['', 'empty'],
    ['null', 'signature_missing'],
    ['[]', 'body_not_an_object'],
    ['{}', 'signature_missing'],
    ['{', 'invalid_json'],
    [body.replace('{', '{"order_status":"declined",'), 'duplicate_key'],
    [body.replace('{', String.raw`{"order_statu\u0073":"declined",`), 'duplicate_key'],
    [`${formOf(paid)}&order_id=1`, 'duplicate_key'],
    [`${formOf(paid)}&x=%zz`, 'invalid_form'],
    [Buffer.concat([Buffer.from(body), Buffer.from([0x80])]), 'invalid_utf8'],
    [`${body}\0`, 'nul_character'],
    [JSON.stringify({ response: paid, order_id: paymentId }), 'signature_missing'],
    [JSON.stringify({ response: [paid] }), 'signature_missing'],
    [JSON.stringify({ request: paid }), 'signature_missing'],
  ]
  for (const [text, reason] of cases)
    assert.equal(verdictOf(text), reason, String(text).slice(0, 60))
})

test('names outside of ASCII or without end, and half characters, are refused though signed', () => {
  const signBytes = (parameters: Parameters) => ({
    ...parameters,
    signature: sha1Hex([key, ...Object.values(parameters)].join('|')),
  })
  for (const name of ['ціна', 'a b', 'a\u00a0', '', 'amоunt']) {
    assert.equal(verdictOn(signBytes({ [name]: '1' })), 'name_not_ascii', name)
  }
  assert.equal(verdictOn(signBytes({ ['x'.repeat(64)]: '1' })), 'valid')
  assert.equal(verdictOn(signBytes({ ['x'.repeat(65)]: '1' })), 'name_too_long')
  assert.equal(verdictOn(signBytes({ a: '1', ['x'.repeat(65)]: '' })), 'name_too_long')
  for (const value of ['\ud800', 'x\udfff']) {
    assert.equal(verdictOn(signBytes({ x: value })), 'value_not_text', JSON.stringify(value))
  }
  for (const value of ['a b', '~', '\u00a0', 'Ї', '😀', '\ufffd']) {
    assert.equal(verdictOn(signBytes({ a: value })), 'valid', value)
  }
})

test('bytes appended by SHA-1 length extension never get as far as the hash', () => {
  const padding = Buffer.concat([Buffer.from([0x80]), Buffer.alloc(20), Buffer.from('|approved')])
  const form = Buffer.concat([Buffer.from(formOf(paid)), padding])
  assert.equal(verdictOf(form), 'invalid_utf8')
  assert.equal(verdictOf(`${formOf(paid)}&zz=%80%00%00`), 'invalid_utf8')
})

test('no changed byte of a body is accepted with another meaning', () => {
  for (const text of [
    JSON.stringify(paid),
    formOf(paid),
    xmlOf(paid),
    JSON.stringify(envelope(paidOrder)),
  ]) {
    const body = Buffer.from(text)
    const change = fc.tuple(fc.nat(body.length - 1), fc.integer({ min: 1, max: 255 }))
    fc.assert(
      fc.property(change, ([at, mask]) => {
        const changed = Uint8Array.from(body)
        changed[at] = (changed[at] ?? 0) ^ mask
        if (verdictOf(changed) !== 'valid') return
        assert.deepEqual(outcomesOf(Buffer.from(changed).toString()), meaningOf())
      }),
      { numRuns: 2000 },
    )
  }
})
