import { createHmac } from 'node:crypto'
import type { Secret } from '../kernel/secret.ts'

/** What a signed request carries besides its body. */
export interface SignedHeaders {
  readonly 'webhook-id': string
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

const prefix = 'whsec_'

/** The bytes of a secret: what follows `whsec_`, in base64, 24 to 64 bytes. */
export function signingKey(text: string): Buffer | undefined {
  if (!text.startsWith(prefix)) return undefined
  const encoded = text.slice(prefix.length)
  const key = Buffer.from(encoded, 'base64')
  // Node's decoder takes almost any text: a mistyped secret must not turn into another one.
  if (key.toString('base64').replace(/=+$/, '') !== encoded.replace(/=+$/, '')) return undefined
  return key.length >= 24 && key.length <= 64 ? key : undefined
}

export function secretTextOf(key: Uint8Array): string {
  return prefix + Buffer.from(key).toString('base64')
}

/**
 * The headers of one attempt, by Standard Webhooks 1.0.0: HMAC-SHA256 of `{id}.{timestamp}.{body}`,
 * one signature for each secret, so that a receiver may know either while they are exchanged. Source:
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signedHeaders(
  { id, body }: { readonly id: string; readonly body: string },
  secrets: readonly Secret[],
  now: Date,
): SignedHeaders {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const signatures = secrets.flatMap((secret) => {
    const key = signingKey(secret.reveal())
    if (key === undefined) return []
    const digest = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`)
    return [`v1,${digest.digest('base64')}`]
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
