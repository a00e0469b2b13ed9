import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secret } from '../../kernel/secret.ts'
import { decodeCanonicalBase64 } from './canonical-base64.ts'
import { decodeCanonicalHex } from './canonical-hex.ts'
import { constantTimeEqual } from './constant-time-equal.ts'
import { hmacSha256, matchesHmacSha256 } from './hmac.ts'
import { isMaskedToken, maskToken, tokenReference } from './token-reference.ts'

// RFC 4231, test case 2.
const key = secret('Jefe')
const text = 'what do ya want for nothing?'
const digest = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'

const bytes = (hex: string) => Buffer.from(hex, 'hex')

test('HMAC-SHA256 gives the answer of RFC 4231, in one part or several', () => {
  assert.deepEqual(hmacSha256(key, [text]), bytes(digest))
  assert.deepEqual(hmacSha256(key, ['what do ya', Buffer.from(text.slice(10))]), bytes(digest))
})

test('any of several secrets and signatures may match, and none is no match', () => {
  const other = secret('another secret')
  const wrong = bytes('00'.repeat(32))
  const signed = (...signatures: Buffer[]) => ({ parts: [text], signatures })
  assert.equal(matchesHmacSha256([other, key], signed(wrong, bytes(digest))), true)
  assert.equal(matchesHmacSha256([other], signed(wrong, bytes(digest))), false)
  assert.equal(matchesHmacSha256([key], signed(wrong)), false)
  assert.equal(matchesHmacSha256([], signed(bytes(digest))), false)
  assert.equal(matchesHmacSha256([key], signed()), false)
})

test('bytes of different length are unequal and nothing throws', () => {
  assert.equal(constantTimeEqual(bytes('0102'), bytes('0102')), true)
  assert.equal(constantTimeEqual(bytes('0102'), bytes('0103')), false)
  assert.equal(constantTimeEqual(bytes('0102'), bytes('010203')), false)
  assert.equal(constantTimeEqual(bytes(''), bytes('00')), false)
})

test('only canonical hex of the exact length is decoded', () => {
  assert.deepEqual(decodeCanonicalHex(digest, 32), bytes(digest))
  const refused = [
    '',
    digest.toUpperCase(),
    digest.slice(2),
    `${digest}00`,
    `zz${digest.slice(2)}`,
    `${digest.slice(0, 62)}g0`,
    `${digest.slice(0, 63)}\n`,
    ` ${digest.slice(1)}`,
    '0e'.repeat(31),
  ]
  for (const text of refused) assert.equal(decodeCanonicalHex(text, 32), undefined, text)
  assert.equal(decodeCanonicalHex('', 0), undefined)
})

test('base64 is decoded only if it is spelled as it would be encoded', () => {
  assert.deepEqual(decodeCanonicalBase64('aGk='), Buffer.from('hi'))
  assert.deepEqual(decodeCanonicalBase64('+/8='), Buffer.from([0xfb, 0xff]))
  for (const text of [
    'aGk',
    'aGk==',
    'aGl=',
    ' aGk=',
    'aGk=\n',
    'a Gk=',
    '-_8=',
    'aGk=a',
    '!',
    '=',
  ]) {
    assert.equal(decodeCanonicalBase64(text), undefined, JSON.stringify(text))
  }
})

test('a masked token stands for the same thing as the token, and shows nothing of it', () => {
  const token = '58D19A71E802334948F1FFC7E6626DFC6F424DDA'
  const masked = maskToken(token)
  assert.equal(masked, 'masked:4ba26fc37ae4daf4eeec7bb6898766e6')
  assert.equal(tokenReference(masked), tokenReference(token))
  assert.equal(isMaskedToken(masked), true)
  assert.equal(isMaskedToken(token), false)
  assert.equal(isMaskedToken(`${masked}0`), false)
  assert.equal(isMaskedToken(` ${masked}`), false)
  assert.notEqual(tokenReference(`${token} `), tokenReference(token))
})
