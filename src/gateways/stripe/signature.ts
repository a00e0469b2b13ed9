import { decodeCanonicalHex } from '../signing/canonical-hex.ts'
import { matchesHmacSha256 } from '../signing/hmac-sha256.ts'
import { invalid, valid, type Credentials, type RawRequest, type Verdict } from '../gateway.ts'

/** The one header under its two names. */
export const signatureHeaders = ['stripe-signature', 'alpha-signature'] as const

export const defaultToleranceSeconds = 300
export const largestToleranceSeconds = 3600

const wholeSeconds = /^[1-9]\d{0,3}$/

/** Seconds that a timestamp may lie in the past or in the future: 1 to 3600. */
export function isTolerance(text: string): boolean {
  return wholeSeconds.test(text) && Number(text) <= largestToleranceSeconds
}

const mostSignatures = 10
const digestBytes = 32

/**
 * `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>." and the raw body>`, one `v1` for each secret that
 * is live at Stripe. Stricter than Stripe's own libraries wherever they differ: the window has two
 * sides and every irregular header is refused.
 * https://docs.stripe.com/webhooks#verify-manually
 */
export function verifySignature(request: RawRequest, credentials: Credentials, now: Date): Verdict {
  const secrets = credentials.secrets.signing_secret ?? []
  if (secrets.length === 0) return invalid('not_configured')
  const header = readHeader(request)
  if (!header.ok) return invalid(header.reason)
  const clockFault = timestampFault(header.timestamp, credentials, now)
  if (clockFault !== undefined) return invalid(clockFault)
  const parts = [`${header.timestamp}.`, request.body]
  return matchesHmacSha256(secrets, { parts, signatures: header.signatures })
    ? valid
    : invalid('signature_mismatch')
}

type Header =
  | { readonly ok: true; readonly timestamp: string; readonly signatures: readonly Uint8Array[] }
  | { readonly ok: false; readonly reason: string }

function readHeader(request: RawRequest): Header {
  const sent = signatureHeaders
    .map((name) => request.headers[name])
    .filter((value) => value !== undefined)
  const [value] = sent
  if (value === undefined || value.trim() === '') return refused('signature_missing')
  if (sent.length > 1) return refused('signature_header_repeated')
  // Stripe sends no white space; a header sent twice arrives joined by a comma and a space.
  if (/\s/.test(value)) return refused('signature_header_has_space')
  const elements = value.split(',').map(splitElement)
  if (elements.some(({ scheme }) => scheme === '')) return refused('signature_header_malformed')
  return readElements(elements)
}

interface Element {
  readonly scheme: string
  readonly value: string
}

function splitElement(text: string): Element {
  const equals = text.indexOf('=')
  return equals === -1
    ? { scheme: '', value: text }
    : { scheme: text.slice(0, equals), value: text.slice(equals + 1) }
}

const unixSeconds = /^[1-9]\d{0,11}$/

/** Only `t` and `v1` count: `v0` is Stripe's fake test signature, others may come one day. */
function readElements(elements: readonly Element[]): Header {
  const timestamps = valuesOf(elements, 't')
  const [timestamp] = timestamps
  if (timestamp === undefined) return refused('timestamp_missing')
  if (timestamps.length > 1) return refused('timestamp_repeated')
  if (!unixSeconds.test(timestamp)) return refused('timestamp_malformed')
  const texts = valuesOf(elements, 'v1')
  if (texts.length === 0) return refused('signature_scheme_missing')
  if (texts.length > mostSignatures) return refused('too_many_signatures')
  const signatures = texts.map((text) => decodeCanonicalHex(text, digestBytes))
  return signatures.every((signature) => signature !== undefined)
    ? { ok: true, timestamp, signatures }
    : refused('signature_malformed')
}

function valuesOf(elements: readonly Element[], scheme: string): readonly string[] {
  return elements.filter((element) => element.scheme === scheme).map(({ value }) => value)
}

/** Both ways and on whole seconds; exactly the tolerance passes. Fails closed on a broken clock. */
function timestampFault(
  timestamp: string,
  credentials: Credentials,
  now: Date,
): string | undefined {
  const setting = credentials.settings.tolerance_seconds ?? String(defaultToleranceSeconds)
  if (!isTolerance(setting)) return 'tolerance_invalid'
  const ageSeconds = Math.floor(now.getTime() / 1000) - Number(timestamp)
  if (ageSeconds < -Number(setting)) return 'timestamp_in_future'
  return ageSeconds <= Number(setting) ? undefined : 'timestamp_too_old'
}

function refused(reason: string): Header {
  return { ok: false, reason }
}
