import { createPublicKey, type KeyObject } from 'node:crypto'
import { decodeCanonicalBase64 } from '../signing/canonical-base64.ts'

const publicPem = /^-----BEGIN PUBLIC KEY-----\s[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----\s*$/

/**
 * The key that the bank signs with: a PEM, or the base64 of one, as its endpoint gives it. Only an
 * EC key of the curve P-256 counts: the general check would take an RSA key just as well.
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

/** Every key of the setting, separated by commas; undefined if one of them is none. */
export function readPublicKeys(setting: string): readonly KeyObject[] | undefined {
  const keys = setting.split(',').map(readPublicKey)
  return keys.every((key) => key !== undefined) ? keys : undefined
}

/** Out of base64, else as it stands, with `\n` for line ends too, as .env files have a PEM. */
export function pemOf(text: string): string {
  const trimmed = text.trim()
  const decoded = decodeCanonicalBase64(trimmed)
  if (decoded === undefined) return trimmed.replaceAll(String.raw`\n`, '\n')
  return Buffer.from(decoded).toString('latin1')
}

/** Keys of other curves are none, nor are keys of other kinds: those have no curve. */
export function isP256(key: KeyObject): boolean {
  return key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
}
