import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secret } from '../../kernel/secret.ts'
import { md5 } from './hmac.ts'

const hexOf = (key: string, text: string) =>
  Buffer.from(md5.sign(secret(key), [text])).toString('hex')

test('HMAC-MD5 gives the answers of RFC 2202', () => {
  assert.equal(hexOf('Jefe', 'what do ya want for nothing?'), '750c783e6ab0b503eaa86e310a5db738')
  assert.equal(hexOf('\x0b'.repeat(16), 'Hi There'), '9294727a3638bb1c13f48ef8158bfc9d')
})

test('text and key outside ASCII count as UTF-8', () => {
  // printf 'ціна €' | openssl dgst -md5 -hmac 'ключ'
  assert.equal(hexOf('ключ', 'ціна €'), 'e07424624fb25bd2c0ab468e5cbd25f4')
})
