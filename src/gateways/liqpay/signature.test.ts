import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { judgementOf } from '../../../test/support/judgement-of.ts'
import { storedBody } from '../../../test/support/stored-body.ts'
import { secret } from '../../kernel/secret.ts'
import {
  base64,
  callback,
  credentialsOf,
  form,
  privateKey,
  publicKey,
  sign,
  verdictOf,
} from '../../../test/gateways/liqpay/callbacks.ts'
import { liqpay } from './index.ts'
import { signatureOf } from './signature.ts'

const valid = { valid: true }
const refused = (reason: string) => ({ valid: false, reason })

// Made by the official Node SDK (liqpay/sdk-nodejs, `cnb_object`), and by OpenSSL.
const official = {
  data:
    'eyJ2ZXJzaW9uIjozLCJhY3Rpb24iOiJwYXkiLCJhbW91bnQiOjg0Mi4zNSwiY3VycmVuY3kiOiJVQUgiLCJkZXNj' +
    'cmlwdGlvbiI6ItCd0LDRgdGW0L3QvdGPINGB0L7QvdGP0YjQvdC40LrRgywgMTIg0LrQsyIsIm9yZGVyX2lkIjoi' +
    'NWQwYzNhMWUtOTRiNy00ZjI2LThlMWQtN2EyYjZjOWYwZTM0Iiwic3RhdHVzIjoic3VjY2VzcyIsInBheW1lbnRf' +
    'aWQiOjczMTAwOTQ0MjUsImxhbmd1YWdlIjoidWsiLCJwdWJsaWNfa2V5IjoiaTQ4MjE3MzY1MDAxIn0=',
  signature: '1eq5SZwENTXQgFRIf45QHoVwJKM=',
}
const text = JSON.stringify(callback())
const data = base64(text)
const signature = sign(data)
const digest = (...parts: readonly string[]) =>
  createHash('sha1').update(parts.join('')).digest('base64')

test('what the official SDK signs is valid, and we sign the same', () => {
  assert.deepEqual(verdictOf(form(official)), valid)
  assert.deepEqual(verdictOf(JSON.stringify(official)), valid)
  const own = signatureOf(secret(privateKey), official.data)
  assert.equal(Buffer.from(own).toString('base64'), official.signature)
})

test('signatures made with OpenSSL are valid, whatever the padding of the data', () => {
  const cases = [
    ['YQ==', 'DE8NQYRDD3m1sk2seJdiLZpmCv4='],
    ['YWI=', 'K5y2gk1XEuYcpEMblYR/UUCFfy8='],
    ['YWJj', '7oIwKpX9W6NyeEgishdGoCc/yhg='],
  ] as const
  for (const [data, signature] of cases) {
    assert.deepEqual(verdictOf(form({ data, signature }), credentialsOf('key')), valid)
  }
})

test('the two fields come as a form or as JSON, whatever else is in it and in any order', () => {
  const bodies = [
    form({ data, signature }),
    form({ signature, data }),
    form({ data, signature, extra: '1' }),
    `&${form({ data, signature })}&`,
    `\ufeff${form({ data, signature })}`,
    JSON.stringify({ data, signature }),
    JSON.stringify({ signature, more: [1], data }, null, 2),
    ` \t\r\n${JSON.stringify({ data, signature })}\n`,
    `\ufeff${JSON.stringify({ data, signature })}`,
  ]
  for (const body of bodies) assert.deepEqual(verdictOf(body), valid, body.slice(0, 40))
})

test('the two fields are stored as a form, as they were sent, and nothing that came along', () => {
  const bodies = [
    form(official),
    form({ padding: '1', signature: official.signature, data: official.data, data_more: '2' }),
    JSON.stringify({ more: [1], signature: official.signature, data: official.data }),
  ]
  for (const body of bodies) {
    const request = { headers: {}, body: Buffer.from(body) }
    const verdict = liqpay.verify(request, credentialsOf(), new Date())
    const data = official.data.replaceAll('=', '%3D')
    assert.equal(storedBody(verdict), `data=${data}&signature=1eq5SZwENTXQgFRIf45QHoVwJKM%3D`)
  }
})

test('the content type decides nothing, because no header is read', () => {
  const request = {
    get headers(): never {
      throw new Error('read')
    },
    body: Buffer.from(form({ data, signature })),
  }
  assert.deepEqual(judgementOf(liqpay.verify(request, credentialsOf(), new Date())), valid)
})

test('every body that is not read one way only is refused with its own reason', () => {
  const good = form({ data, signature })
  const cases: readonly (readonly [string, string])[] = [
    ['', 'body_empty'],
    ['null', 'data_missing'],
    ['[]', 'data_missing'],
    ['"x"', 'data_missing'],
    [`[${JSON.stringify({ data, signature })}]`, 'data_missing'],
    ['{', 'body_invalid_json'],
    [`${JSON.stringify({ data, signature })}x`, 'body_invalid_json'],
    [`{"data":"a","data":"${data}","signature":"${signature}"}`, 'body_duplicate_key'],
    [`data=a&${good}`, 'body_duplicate_key'],
    [`${good}&signature=a`, 'body_duplicate_key'],
    [`${good}&d%61ta=a`, 'body_duplicate_key'],
    [`${good}&x=%zz`, 'body_invalid_form'],
    [`${good}&x=%ff`, 'body_invalid_utf8'],
    [`${good}\0`, 'body_nul_character'],
    [`${good}&data[]=a`, 'field_nested'],
    [`${good}&data.x=a`, 'field_nested'],
    [`${good}&signature[a]=a`, 'field_nested'],
    [good.replace('data=', 'data[]='), 'field_nested'],
    [good.replace('&', ';'), 'signature_missing'],
    [form({ signature }), 'data_missing'],
    [form({ data: '', signature: digest(privateKey, privateKey) }), 'data_missing'],
    [form({ Data: data, signature }), 'data_missing'],
    [form({ data }), 'signature_missing'],
    [form({ data, signature: '' }), 'signature_missing'],
    [form({ data, Signature: signature }), 'signature_missing'],
  ]
  for (const [body, reason] of cases) assert.deepEqual(verdictOf(body), refused(reason), body)
})

test('a field that merely begins like data or signature stands in nobody’s way', () => {
  const body = form({ data, signature, data_more: '1', 'x.data[]': '2', signatures: '3' })
  assert.deepEqual(verdictOf(body), valid)
})

test('fields of JSON that are no texts are refused, whatever they would turn into', () => {
  for (const value of [true, false, 0, 1, null, [data], { data }]) {
    const asData = JSON.stringify({ data: value, signature })
    assert.deepEqual(verdictOf(asData), refused('data_malformed'), asData)
    const asSignature = JSON.stringify({ data, signature: value })
    assert.deepEqual(verdictOf(asSignature), refused('signature_malformed'), asSignature)
  }
})

test('a signature that is not canonical base64 of 20 bytes is refused before it is compared', () => {
  const bytes = Buffer.from(signature, 'base64')
  const texts = [
    ' ',
    '=',
    '0',
    '0e123',
    'null',
    'undefined',
    bytes.toString('hex'),
    bytes.toString('base64url'),
    bytes.toString('latin1'),
    signature.slice(0, -1),
    `${signature}=`,
    `${signature}\n`,
    ` ${signature}`,
    `${signature} `,
    `${signature.slice(0, 10)}\n${signature.slice(10)}`,
    `${signature.slice(0, 10)}!${signature.slice(10)}`,
    base64(bytes.subarray(0, 19)),
    base64(Buffer.concat([bytes, Buffer.alloc(1)])),
    base64(Buffer.concat([bytes, bytes])),
  ]
  for (const text of texts) {
    assert.deepEqual(
      verdictOf(form({ data, signature: text })),
      refused('signature_malformed'),
      JSON.stringify(text),
    )
  }
})

test('the right public key does not make up for a wrong signature', () => {
  assert.ok(text.includes(publicKey))
  for (const wrong of [base64(Buffer.alloc(20)), sign(data, publicKey), digest(publicKey)]) {
    assert.deepEqual(verdictOf(form({ data, signature: wrong })), refused('signature_mismatch'))
  }
})

test('only the private key on both sides of the sent text signs', () => {
  const wrong = [
    digest(data),
    digest(privateKey, data),
    digest(data, privateKey),
    digest(privateKey, text, privateKey),
    digest(privateKey, `${data}\n`, privateKey),
    digest(privateKey, '|', data, '|', privateKey),
    digest(privateKey, privateKey, data),
    createHash('sha256').update(`${privateKey}${data}${privateKey}`).digest().subarray(0, 20),
    ...['', 'undefined', 'null', '[object Object]', 'false', '[secret]'].map((key) =>
      digest(key, data, key),
    ),
  ]
  for (const signature of wrong) {
    const sent = typeof signature === 'string' ? signature : base64(signature)
    assert.deepEqual(verdictOf(form({ data, signature: sent })), refused('signature_mismatch'))
  }
})

test('the signature is over the sent text: another spelling of the same bytes is another text', () => {
  const spellings = [
    data.replaceAll('=', ''),
    `${data}=`,
    `${data}\n`,
    ` ${data}`,
    Buffer.from(text).toString('base64url'),
    base64(JSON.stringify(callback(), null, 1)),
  ].filter((spelling) => spelling !== data)
  assert.ok(spellings.length >= 4)
  for (const spelling of spellings) {
    const sent = form({ data: spelling, signature })
    assert.deepEqual(verdictOf(sent), refused('signature_mismatch'), spelling.slice(-10))
  }
})

test('a plus that came as a blank is not repaired, and a plus escaped twice is not decoded twice', () => {
  const withPlus = base64('>>>~~~ки')
  assert.match(withPlus, /\+/)
  const signature = encodeURIComponent(sign(withPlus))
  const sent = (spelling: string) => verdictOf(`data=${spelling}&signature=${signature}`)
  assert.deepEqual(sent(encodeURIComponent(withPlus)), valid)
  assert.deepEqual(sent(withPlus), refused('signature_mismatch'))
  assert.deepEqual(sent(withPlus.replaceAll('+', '%20')), refused('signature_mismatch'))
  assert.deepEqual(sent(withPlus.replaceAll('+', '%252B')), refused('signature_mismatch'))
})

test('data that is no canonical base64 is valid if it was signed as it is', () => {
  const signature = '0e6fr9oYB2ClH9GRnoElJdyUEfU='
  assert.deepEqual(verdictOf(form({ data: '!!not base64', signature })), valid)
})

test('during a rotation every configured key counts, and afterwards the old one does not', () => {
  const body = form({ data, signature })
  assert.deepEqual(verdictOf(body, credentialsOf(`the_next_private_key,${privateKey}`)), valid)
  assert.deepEqual(verdictOf(body, credentialsOf(`${privateKey},the_next_private_key`)), valid)
  const rotated = credentialsOf('the_next_private_key')
  assert.deepEqual(verdictOf(body, rotated), refused('signature_mismatch'))
})

test('without a private key everything is refused, also what an empty or blank key has signed', () => {
  for (const key of ['', '   ', 'undefined', 'null']) {
    const body = form({ data, signature: sign(data, key) })
    assert.deepEqual(verdictOf(body, credentialsOf(key)), refused('not_configured'))
  }
  const empty = { ...credentialsOf(), secrets: { private_key: [secret('')] } }
  const signedByAnybody = form({ data, signature: sign(data, '') })
  assert.deepEqual(verdictOf(signedByAnybody, empty), refused('not_configured'))
  const withoutPublicKey = { ...credentialsOf(), configured: false }
  assert.deepEqual(
    verdictOf(form({ data, signature }), withoutPublicKey),
    refused('not_configured'),
  )
  const noSecrets = { ...credentialsOf(), secrets: {} }
  assert.deepEqual(verdictOf(form({ data, signature }), noSecrets), refused('not_configured'))
})
