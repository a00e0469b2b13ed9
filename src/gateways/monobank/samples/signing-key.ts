import {
  createECDH,
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
} from 'node:crypto'
import { isP256, pemOf } from '../public-key.ts'

/** A test key: an EC private key of the curve P-256, as a PEM or in base64; else undefined. */
export function readSigningKey(text: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pemOf(text))
    return isP256(key) ? key : undefined
  } catch {
    return undefined
  }
}

/** A key pair for tests, derived from a name; both halves as base64 of a PEM. */
export function sampleKeys(owner: string): {
  readonly publicKey: string
  readonly signingKey: string
} {
  const scalar = createHash('sha256').update(`monobank test key of ${owner}`).digest()
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(scalar)
  // The uncompressed form: a tag, then both coordinates.
  const point = pair.getPublicKey()
  const signingKey = createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      d: scalar.toString('base64url'),
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
    },
  })
  return {
    publicKey: base64(createPublicKey(signingKey).export({ type: 'spki', format: 'pem' })),
    signingKey: base64(signingKey.export({ type: 'pkcs8', format: 'pem' })),
  }
}

function base64(pem: string | Buffer): string {
  return Buffer.from(pem).toString('base64')
}
