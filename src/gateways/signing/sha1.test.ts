import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sha1 } from './sha1.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

test('SHA-1 gives the answers of RFC 3174, in one part or several', () => {
  const abc = 'a9993e364706816aba3e25717850c26c9cd0d89d'
  assert.equal(hex(sha1(['abc'])), abc)
  assert.equal(hex(sha1(['a', Buffer.from('b'), '', 'c'])), abc)
  const alphabet = 'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq'
  assert.equal(hex(sha1([alphabet])), '84983e441c3bd26ebaae4aa1f95129e5e54670f1')
})

test('no parts and empty parts give the digest of nothing', () => {
  assert.equal(hex(sha1([])), 'da39a3ee5e6b4b0d3255bfef95601890afd80709')
  assert.equal(hex(sha1([''])), 'da39a3ee5e6b4b0d3255bfef95601890afd80709')
})

test('text counts as UTF-8, whichever way it is given', () => {
  const word = 'Сплата ₴'
  assert.equal(hex(sha1([word])), hex(sha1([Buffer.from(word, 'utf8')])))
  assert.notEqual(hex(sha1([word])), hex(sha1([Buffer.from(word, 'utf16le')])))
})
