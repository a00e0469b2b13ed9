import assert from 'node:assert/strict'
import { createHash, randomBytes, webcrypto } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { encryptionKeyFault, readCipher, type Cipher } from './encryption.ts'

const newKey = () => randomBytes(32).toString('base64')
const context = 'webhook_calls/0199a000-0000-7000-8000-000000000001/body'
const token = Buffer.from('a card token')

function cipherOf(...keys: readonly string[]): Cipher {
  const cipher = readCipher(keys.join(','))
  assert.ok(cipher)
  return cipher
}

/** The same by Web Crypto, which puts the tag behind the text. */
async function webKey(key: string) {
  const bytes = Buffer.from(key, 'base64')
  return webcrypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

function idOf(key: string): Buffer {
  return createHash('sha256').update(Buffer.from(key, 'base64')).digest().subarray(0, 4)
}

test('what another implementation encrypted for the layout is decrypted', async () => {
  const key = newKey()
  const iv = randomBytes(12)
  const algorithm = { name: 'AES-GCM', iv, additionalData: Buffer.from(context) }
  const sealed = Buffer.from(await webcrypto.subtle.encrypt(algorithm, await webKey(key), token))
  const [text, tag] = [sealed.subarray(0, -16), sealed.subarray(-16)]
  const bytes = Buffer.concat([Uint8Array.of(1), idOf(key), iv, tag, text])
  assert.deepEqual(cipherOf(key).decrypt(bytes, context), token)
})

test('what is encrypted here, another implementation decrypts', async () => {
  const key = newKey()
  const bytes = Buffer.from(cipherOf(key).encrypt(token, context))
  assert.deepEqual(bytes.subarray(0, 5), Buffer.concat([Uint8Array.of(1), idOf(key)]))
  const [iv, tag, text] = [bytes.subarray(5, 17), bytes.subarray(17, 33), bytes.subarray(33)]
  const algorithm = { name: 'AES-GCM', iv, additionalData: Buffer.from(context) }
  const opened = await webcrypto.subtle.decrypt(
    algorithm,
    await webKey(key),
    Buffer.concat([text, tag]),
  )
  assert.deepEqual(Buffer.from(opened), token)
})

// Key 00..1f, nonce 20..2b, context `payment_methods/1/token`, text `tok_test`: computed with
// OpenSSL through Python's `cryptography`.
test('a text from another language, known byte for byte, is decrypted', () => {
  const key = Buffer.from(Uint8Array.from({ length: 32 }, (_, index) => index)).toString('base64')
  const known = '01630dcd29202122232425262728292a2b461a6c49703215a613c97e4f14c94517a655cd2f18fd697a'
  const opened = cipherOf(key).decrypt(Buffer.from(known, 'hex'), 'payment_methods/1/token')
  assert.equal(opened && Buffer.from(opened).toString(), 'tok_test')
})

test('any bytes come back under their context and key, and under no other', () => {
  const key = newKey()
  const cipher = cipherOf(key)
  const other = cipherOf(newKey())
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.string(),
      fc.string(),
      (bytes, mine, theirs) => {
        const sealed = cipher.encrypt(bytes, mine)
        assert.deepEqual(Buffer.from(cipher.decrypt(sealed, mine) ?? []), Buffer.from(bytes))
        assert.equal(other.decrypt(sealed, mine), undefined)
        fc.pre(mine !== theirs)
        assert.equal(cipher.decrypt(sealed, theirs), undefined)
      },
    ),
  )
})

test('a text that is changed anywhere, cut or made up does not decrypt, and nothing throws', () => {
  const cipher = cipherOf(newKey())
  const sealed = cipher.encrypt(token, context)
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Uint8Array.from(sealed)
    changed[at] = (changed[at] ?? 0) ^ 1
    assert.equal(cipher.decrypt(changed, context), undefined, `byte ${at}`)
    assert.equal(cipher.decrypt(sealed.subarray(0, at), context), undefined, `cut at ${at}`)
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      assert.equal(cipher.decrypt(bytes, context), undefined)
      assert.equal(
        cipher.decrypt(Buffer.concat([sealed.subarray(0, 5), bytes]), context),
        undefined,
      )
    }),
  )
})

test('the same text is never encrypted to the same bytes twice', () => {
  const cipher = cipherOf(newKey())
  const texts = Array.from({ length: 100 }, () =>
    Buffer.from(cipher.encrypt(token, context)).toString('hex'),
  )
  assert.equal(new Set(texts).size, texts.length)
})

test('rotation: the first key encrypts, all of them decrypt, a key that is gone does not', () => {
  const [old, next] = [newKey(), newKey()]
  const sealed = cipherOf(old).encrypt(token, context)
  const rotated = cipherOf(` ${next} `, '', old)
  assert.deepEqual(rotated.decrypt(sealed, context), token)
  assert.deepEqual(cipherOf(next).decrypt(rotated.encrypt(token, context), context), token)
  assert.equal(cipherOf(next).decrypt(sealed, context), undefined)
})

test('blank settings are no key', () => {
  for (const text of [undefined, '', ' ', ',', ' , ']) assert.equal(readCipher(text), undefined)
})

test('a key that is not exactly 32 bytes of canonical base64 stops the start, unshown', () => {
  const key = Buffer.alloc(32, 0xff).toString('base64')
  const wrong = [
    'undefined',
    key.slice(0, -1),
    `${key}=`,
    key.replaceAll('/', '_'),
    `${key.slice(0, 10)}\n${key.slice(10)}`,
    `${key.slice(0, -2)}9=`,
    Buffer.alloc(31, 0xff).toString('base64'),
    Buffer.alloc(33, 0xff).toString('base64'),
    Buffer.alloc(32, 0xff).toString('hex'),
  ]
  for (const text of wrong) {
    for (const setting of [text, `${key},${text}`]) {
      const fault = encryptionKeyFault(setting) ?? ''
      assert.match(fault, setting === text ? /; key 1 is not$/ : /; key 2 is not$/, text)
      assert.ok(!fault.includes(text), text)
      assert.throws(() => readCipher(setting), { code: 'setting_invalid' })
    }
  }
})
