import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson } from '../body/parse-json.ts'
import {
  base64,
  callback,
  form,
  interpretText,
  parse,
  signedForm,
  assertIgnored,
  ignoredAs,
  interpret,
  paid,
  publicKey,
} from '../../../test/gateways/liqpay/callbacks.ts'
import { interpretLiqpay } from './interpret.ts'
import { liqpay } from './index.ts'
import { isOwnPublicKey, isPaymentId } from './payload.ts'

const unreadable = (reason: string) => ({ kind: 'unreadable', reason })

test('the payload is the JSON inside of data, and never counts as the exact bytes', () => {
  const text = '{ "amount": 10.50,\n "note": "€" }'
  const value = parseJson(text)
  assert.ok(value.ok)
  const expected = { kind: 'json', text, value: value.value, exact: false }
  assert.deepEqual(parse(signedForm(text)), expected)
  assert.deepEqual(parse(JSON.stringify({ data: base64(text), signature: 'x' })), expected)
  assert.deepEqual(parse(form({ data: base64(`\ufeff${text}`) })), expected)
})

test('what cannot be read is told by its reason', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['', 'empty'],
    ['signature=x', 'invalid_form'],
    ['{"data":1}', 'invalid_form'],
    ['{"data":', 'invalid_json'],
    // Only a whole byte order mark is one: this character shares two of its bytes.
    ['\uff3f{"data":"e30="}', 'invalid_form'],
    ['data=a&data=b', 'duplicate_key'],
    ['data=', 'empty'],
    ['data=!!not+base64', 'invalid_form'],
    [`data=${base64('{}').replaceAll('=', '')}`, 'invalid_form'],
    [form({ data: base64('{"a":1,"a":2}') }), 'duplicate_key'],
    [form({ data: base64(Buffer.from([0xff])) }), 'invalid_utf8'],
    [form({ data: base64('{') }), 'invalid_json'],
    [form({ data: base64(`${'['.repeat(65)}${']'.repeat(65)}`) }), 'too_deep'],
  ]
  for (const [body, reason] of cases) {
    assert.deepEqual(parse(body), unreadable(reason), body.slice(0, 60))
    const outcomes = interpretLiqpay(parse(body))
    assert.deepEqual(outcomes, [ignoredAs('unreadable_payload', reason)])
  }
})

test('a payload that is no object, or is of another gateway’s kind, changes nothing', () => {
  for (const text of ['[]', 'null', '1', '"x"', 'true']) {
    assert.deepEqual(interpretText(text), [ignoredAs('malformed_payload', 'data')], text)
  }
  const fields = { kind: 'form', text: '{}', value: new Map(), exact: false } as const
  assert.deepEqual(interpretLiqpay(fields), [ignoredAs('malformed_payload', 'data')])
})

test('a field that decides how to read the rest must be of its kind', () => {
  const wrong: Readonly<Record<string, readonly unknown[]>> = {
    version: [undefined, null, '3', 2, 4, 3.5, true, [3]],
    public_key: [
      undefined,
      null,
      '',
      1,
      `${publicKey}\n`,
      'i 1',
      'i1;',
      'i'.repeat(65),
      [publicKey],
    ],
    status: [undefined, null, '', '  ', 1, ['success'], { success: true }],
    action: [undefined, null, '', 1, ['pay']],
    order_id: [undefined, null, 1, [], {}],
    payment_id: [undefined, null, '', 0, -1, 1.5, 1e30, '1e3', '01', ' 1', true, '1'.repeat(20)],
  }
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) assertIgnored({ [name]: value }, 'malformed_payload', name)
  }
})

test('the checkout’s own form has no status: sent back by its payer, it is for nobody', () => {
  const interpretWith = (fields: Record<string, unknown>) =>
    interpretLiqpay(parse(signedForm(JSON.stringify(callback(fields)))))
  const outcome = ignoredAs('malformed_payload', 'status')
  assert.deepEqual(interpretWith({ status: undefined }), [{ ...outcome, money: false }])
  // What has a status that is none is a report, and a person must look.
  for (const status of [null, '', 1]) assert.deepEqual(interpretWith({ status }), [outcome])
})

test('version 3 is the number 3 and nothing that equals it', () => {
  const text = JSON.stringify(callback())
  for (const lexeme of ['3.0', '3e0', '0.3e1', '-3', '30']) {
    const changed = text.replace('"version":3', `"version":${lexeme}`)
    assert.deepEqual(interpretText(changed), [ignoredAs('malformed_payload', 'version')], lexeme)
  }
})

test('the operation’s id may be a number or its digits as a text', () => {
  const text = JSON.stringify(callback())
  for (const lexeme of ['7310094425', '"7310094425"']) {
    const changed = text.replace('"payment_id":7310094425', `"payment_id":${lexeme}`)
    assert.deepEqual(interpretText(changed), [paid])
  }
  assert.equal(isPaymentId('7310094425'), true)
  assert.equal(isPaymentId(7310094425), false)
  // Larger than a float can tell apart.
  const [large] = interpretText(text.replace(':7310094425', ':9007199254740993123'))
  assert.deepEqual(large, { ...paid, providerReference: '9007199254740993123' })
})

test('an order of another kind than ours is told by its name, cut short', () => {
  const references = ['123456', '', '0198F0AA4B1C7CC39D522F1F3D5A6E01', 'x'.repeat(300)]
  for (const reference of references) {
    assertIgnored(
      { order_id: reference },
      'invalid_reference',
      reference.replace(/(?<=^.{99})..+/, '…'),
    )
  }
  const padded = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e01\n'
  assert.deepEqual(interpret({ order_id: padded })[0]?.type, 'ignored')
})

test('the longest public key and a sandbox one are keys', () => {
  for (const key of ['i'.repeat(64), 'i1', 'A_9']) {
    assert.deepEqual(interpret({ public_key: key }), [{ ...paid, merchantAccount: key }])
  }
})

test('the setting of the public key takes one key', () => {
  const field = liqpay.credentials.public_key
  assert.equal(field?.accepts?.test('sandbox_i48217365001'), true)
  assert.equal(field?.accepts?.test('i1,i2'), false)
  assert.equal(field?.sample?.('mine'), 'sandbox_mine_public_key_of_liqpay')
})

test('what is written like a private key, 40 letters and digits, is set as no public one', () => {
  const cases: readonly (readonly [text: string, isPublic: boolean])[] = [
    ['i12345678901', true],
    ['sandbox_i12345678901', true],
    ['', false],
    ['i1234 5678', false],
    ['a1B2'.repeat(10), false],
    [`sandbox_${'a1B2'.repeat(10)}`, false],
    [`sandbox_sandbox_${'a1B2'.repeat(10)}`, true],
    ['a'.repeat(39), true],
    ['a'.repeat(41), true],
    [`x_${'a'.repeat(40)}`, true],
    [`${'a'.repeat(40)}_x`, true],
    [`${'a'.repeat(39)}_`, true],
  ]
  for (const [text, isPublic] of cases) assert.equal(isOwnPublicKey(text), isPublic, text)
})
