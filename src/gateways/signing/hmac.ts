import { createHmac } from 'node:crypto'
import type { Secret } from '../../kernel/secret.ts'
import { constantTimeEqual } from './constant-time-equal.ts'

/** HMAC-SHA256 of the concatenated parts; the key is the secret's text as UTF-8. */
export function hmacSha256(secret: Secret, parts: readonly (string | Uint8Array)[]): Uint8Array {
  const hmac = createHmac('sha256', secret.reveal())
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

/** What was signed, and the signatures that came with it. */
export interface SignedText {
  readonly parts: readonly (string | Uint8Array)[]
  /** One match is enough: while a secret is being replaced, a sender signs with every live one. */
  readonly signatures: readonly Uint8Array[]
}

/** Whether one of the signatures was made with one of the secrets. */
export function matchesHmacSha256(secrets: readonly Secret[], signed: SignedText): boolean {
  return findHmacSha256Secret(secrets, signed) !== -1
}

/** The index of the first of these secrets with which one of the signatures was made; -1 if none. */
export function findHmacSha256Secret(secrets: readonly Secret[], signed: SignedText): number {
  return secrets.findIndex((secret) => {
    const expected = hmacSha256(secret, signed.parts)
    return signed.signatures.some((signature) => constantTimeEqual(signature, expected))
  })
}

/**
 * HMAC-MD5 of a text as UTF-8; the key is the secret's text as UTF-8. MD5 collisions are easy to
 * make, but no way is known to forge an HMAC made with it. It is only for providers that sign with
 * nothing else.
 */
export function hmacMd5(secret: Secret, text: string): Uint8Array {
  return createHmac('md5', secret.reveal()).update(text).digest()
}
