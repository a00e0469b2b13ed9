import { createHash } from 'node:crypto'

/**
 * SHA-1 of the concatenated parts: 20 bytes. For providers that put a secret among the parts
 * instead of keying an HMAC with it; the caller reveals the secret in its place.
 */
export function sha1(parts: readonly (string | Uint8Array)[]): Uint8Array {
  const hash = createHash('sha1')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
