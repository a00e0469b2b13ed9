import { createHmac } from 'node:crypto'
import type { Secret } from '../../kernel/secret.ts'
import { constantTimeEqual } from './constant-time-equal.ts'

/** What was signed, and the signatures that came with it. */
export interface SignedText {
  readonly parts: readonly (string | Uint8Array)[]
  /** One match is enough: while a secret is being replaced, a sender signs with every live one. */
  readonly signatures: readonly Uint8Array[]
}

/** HMAC of the concatenated parts by one algorithm; the key is the secret's text as UTF-8. */
function hmac(algorithm: string) {
  const sign = (secret: Secret, parts: SignedText['parts']): Uint8Array => {
    const digest = createHmac(algorithm, secret.reveal())
    for (const part of parts) digest.update(part)
    return digest.digest()
  }
  const findSecret = (secrets: readonly Secret[], { parts, signatures }: SignedText): number =>
    secrets.findIndex((secret) => {
      const expected = sign(secret, parts)
      return signatures.some((signature) => constantTimeEqual(signature, expected))
    })
  return { sign, findSecret }
}

/**
 * MD5 collisions are easy to make, but no way is known to forge an HMAC made with it. It is only for
 * providers that sign with nothing else.
 */
export const md5 = hmac('md5')
const sha256 = hmac('sha256')

/** HMAC-SHA256 of the concatenated parts; the key is the secret's text as UTF-8. */
export const hmacSha256 = sha256.sign

/** The index of the first of these secrets with which one of the signatures was made; -1 if none. */
export const findHmacSha256Secret = sha256.findSecret

/** Whether one of the signatures was made with one of the secrets. */
export function matchesHmacSha256(secrets: readonly Secret[], signed: SignedText): boolean {
  return sha256.findSecret(secrets, signed) !== -1
}
