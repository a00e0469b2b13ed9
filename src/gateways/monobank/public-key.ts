import { createPublicKey, type KeyObject } from 'node:crypto'
import { decodeCanonicalBase64 } from '../signing/canonical-base64.ts'

const publicPem = /^-----BEGIN PUBLIC KEY-----\s[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----\s*$/

/**
 * The key with which the bank signs: a PEM, or its base64, as the bank's endpoint returns it. Only
 * an EC key on the curve P-256 counts: the general check would accept an RSA key, too.
 */
export function readPublicKey(text: string): KeyObject | undefined {
  const pem = pemOf(text)
  if (!publicPem.test(pem)) return undefined
  try {
    const key = createPublicKey(pem)
    if (isP256(key)) return key
  } catch {
    // A frame with no key in it.
  }
  return undefined
}

/** Every key of the setting, separated by commas; undefined if one of them is no key. */
export function readPublicKeys(setting: string): readonly KeyObject[] | undefined {
  const keys = setting.split(',').map(readPublicKey)
  return keys.every((key) => key !== undefined) ? keys : undefined
}

/**
 * Decoded if it is base64, otherwise unchanged; `
 * ` also counts as a line end, because .env files hold a PEM like that.
 */
export function pemOf(text: string): string {
  const trimmed = text.trim()
  const decoded = decodeCanonicalBase64(trimmed)
  if (decoded === undefined) return trimmed.replaceAll(String.raw`\n`, '\n')
  return Buffer.from(decoded).toString('latin1')
}

/** Keys on other curves do not count, nor do keys of other kinds, which have no curve. */
export function isP256(key: KeyObject): boolean {
  return key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
}
