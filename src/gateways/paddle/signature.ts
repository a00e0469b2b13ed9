import { timestampedRefusals, timestampedVerifier } from '../signing/timestamped-signature.ts'

/** The one header under its two names. */
export const signatureHeaders = ['paddle-signature', 'beta-signature'] as const

export const refusalReasons = timestampedRefusals

/**
 * `ts=<unix seconds>;h1=<hex HMAC-SHA256 of "<ts>:" and the raw body>`, one `h1` for each key that
 * is live at Paddle. The window is wider than the 5 s of Paddle's own libraries, because clocks and
 * tunnels exceed those. https://developer.paddle.com/webhooks/signature-verification
 */
export const verifySignature = timestampedVerifier({
  headers: signatureHeaders,
  separator: ';',
  // `ts`, or an algorithm: `h1`, and any number that may follow one day.
  element: /^(?:ts|h\d{1,3})=/,
  timestamp: 'ts',
  signature: 'h1',
  joint: ':',
  // Paddle's own vectors have a readable `h1` beside an unreadable one; each counts on its own.
  everyOneReadable: false,
})
