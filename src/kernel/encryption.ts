import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { QuittanceError } from './errors.ts'

/**
 * Encrypts what a copy of the database alone must not show. `context` says where the text is
 * stored, e.g. `webhook_calls/<id>/body`. It is authenticated, so an encrypted text that was moved
 * to another row does not decrypt there.
 */
export interface Cipher {
  encrypt(bytes: Uint8Array, context: string): Uint8Array
  /** Undefined for an unknown key, a damaged text or another context. Never throws. */
  decrypt(bytes: Uint8Array, context: string): Uint8Array | undefined
}

const algorithm = 'aes-256-gcm'
const keyLength = 32

// Version (1 byte), key id (4), nonce (12), tag (16), then the encrypted bytes.
const version = 1
const keyIdAt = 1
const nonceAt = 5
const tagAt = 17
const headerLength = 33

interface Key {
  readonly bytes: Buffer
  /** Identifies the key, and reveals nothing about it. */
  readonly id: Buffer
}

/**
 * Reads keys of 32 bytes in base64, separated by commas: the first one encrypts, all of them
 * decrypt. Undefined if there are none. Error: `setting_invalid`, which never shows a value.
 */
export function readCipher(text = ''): Cipher | undefined {
  const fault = encryptionKeyFault(text)
  if (fault !== undefined) throw new QuittanceError('setting_invalid', `encryption keys ${fault}`)
  const keys = partsOf(text).map((part) => toKey(Buffer.from(part, 'base64')))
  const [first] = keys
  return first && createCipher(first, keys)
}

/** What is wrong with a text of such keys, which it does not repeat. */
export function encryptionKeyFault(text: string): string | undefined {
  const wrong = partsOf(text).findIndex((part) => {
    const bytes = Buffer.from(part, 'base64')
    // Node's decoder takes almost any text: a mistyped key must not turn into another one.
    return bytes.length !== keyLength || bytes.toString('base64') !== part
  })
  return wrong === -1
    ? undefined
    : `must be keys of ${keyLength} bytes in base64; key ${wrong + 1} is not`
}

function partsOf(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim())
  return parts.filter((part) => part !== '')
}

function toKey(bytes: Buffer): Key {
  const digest = createHash('sha256').update(bytes).digest()
  return { bytes, id: digest.subarray(0, nonceAt - keyIdAt) }
}

function createCipher(first: Key, keys: readonly Key[]): Cipher {
  return {
    encrypt: (bytes, context) => seal(first, bytes, context),
    decrypt: (bytes, context) => {
      if (bytes.length < headerLength || bytes[0] !== version) return undefined
      const id = bytes.subarray(keyIdAt, nonceAt)
      for (const key of keys) {
        const opened = key.id.equals(id) ? open(key, bytes, context) : undefined
        if (opened !== undefined) return opened
      }
      return undefined
    },
  }
}

function seal(key: Key, bytes: Uint8Array, context: string): Uint8Array {
  const nonce = randomBytes(tagAt - nonceAt)
  const sealing = createCipheriv(algorithm, key.bytes, nonce).setAAD(Buffer.from(context))
  const sealed = [sealing.update(bytes), sealing.final()]
  return Buffer.concat([Uint8Array.of(version), key.id, nonce, sealing.getAuthTag(), ...sealed])
}

function open(key: Key, bytes: Uint8Array, context: string): Uint8Array | undefined {
  const opening = createDecipheriv(algorithm, key.bytes, bytes.subarray(nonceAt, tagAt))
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(tagAt, headerLength))
  try {
    return Buffer.concat([opening.update(bytes.subarray(headerLength)), opening.final()])
  } catch {
    return undefined
  }
}
