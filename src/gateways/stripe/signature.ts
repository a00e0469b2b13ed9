import { timestampedRefusals, timestampedVerifier } from '../signing/timestamped-signature.ts'

/** The one header under its two names. */
export const signatureHeaders = ['stripe-signature', 'alpha-signature'] as const

export const refusalReasons = timestampedRefusals

/**
 * `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>." and the raw body>`, one `v1` for each secret that
 * is live at Stripe. https://docs.stripe.com/webhooks#verify-manually
 */
export const verifySignature = timestampedVerifier({
  headers: signatureHeaders,
  separator: ',',
  // Only `t` and `v1` count: `v0` is Stripe's fake test signature, and others may be added one day.
  element: /^[^=]+=/,
  timestamp: 't',
  signature: 'v1',
  joint: '.',
  everyOneReadable: true,
})
