import { createHmac } from 'node:crypto'
import type { Secret } from '../../kernel/secret.ts'

/**
 * HMAC-MD5 of a text as UTF-8; the key is the secret's text as UTF-8. MD5 collisions are easy to
 * make, but no way is known to forge an HMAC made with it. It is only for providers that sign with
 * nothing else.
 */
export function hmacMd5(secret: Secret, text: string): Uint8Array {
  return createHmac('md5', secret.reveal()).update(text).digest()
}
