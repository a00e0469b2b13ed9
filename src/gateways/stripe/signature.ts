import type { RawRequest, Verdict } from '../gateway.ts'
import type { Credentials } from '../credential-fields.ts'
import {
  timestampedRefusals,
  verifyTimestamped,
  type TimestampedRefusal,
  type TimestampedScheme,
} from '../signing/timestamped-signature.ts'

/** The one header under its two names. */
export const signatureHeaders = ['stripe-signature', 'alpha-signature'] as const

export const refusalReasons = timestampedRefusals

/**
 * Only `t` and `v1` count: `v0` is Stripe's fake test signature, and others may be added one day.
 */
const scheme: TimestampedScheme = {
  headers: signatureHeaders,
  separator: ',',
  element: /^[^=]+=/,
  timestamp: 't',
  signature: 'v1',
  joint: '.',
  everyOneReadable: true,
}

/**
 * `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>." and the raw body>`, one `v1` for each secret that
 * is live at Stripe. https://docs.stripe.com/webhooks#verify-manually
 */
export function verifySignature(
  request: RawRequest,
  credentials: Credentials,
  now: Date,
): Verdict<TimestampedRefusal> {
  return verifyTimestamped(scheme, { request, credentials, now })
}
