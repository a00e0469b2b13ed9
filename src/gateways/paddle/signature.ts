import { invalid, valid, type Credentials, type RawRequest, type Verdict } from '../gateway.ts'
import { decodeCanonicalHex } from '../signing/canonical-hex.ts'
import { matchesHmacSha256 } from '../signing/hmac-sha256.ts'

/** The one header under its two names. */
export const signatureHeaders = ['paddle-signature', 'beta-signature'] as const

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
 * `ts=<unix seconds>;h1=<hex HMAC-SHA256 of "<ts>:" and the raw body>`, one `h1` for each key that
 * is live at Paddle; any of them may match. Stricter than Paddle's own libraries wherever they
 * differ, but for the window: theirs is 5 s, which clocks and tunnels exceed.
 * https://developer.paddle.com/webhooks/signature-verification
 */
export function verifySignature(request: RawRequest, credentials: Credentials, now: Date): Verdict {
  const secrets = credentials.secrets.signing_secret ?? []
  if (secrets.length === 0) return invalid('not_configured')
  const header = readHeader(request)
  if (!header.ok) return invalid(header.reason)
  const clockFault = timestampFault(header.timestamp, credentials, now)
  if (clockFault !== undefined) return invalid(clockFault)
  const parts = [`${header.timestamp}:`, request.body]
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
  // Paddle sends no white space; a header sent twice arrives joined by a comma and a space.
  if (/\s/.test(value)) return refused('signature_header_has_space')
  return readElements(value.split(';'))
}

/** `ts`, or an algorithm: `h1`, and whatever number may follow it one day. */
const elementGrammar = /^(?:ts|h\d{1,3})=/
const unixSeconds = /^[1-9]\d{0,11}$/

function readElements(elements: readonly string[]): Header {
  if (!elements.every((element) => elementGrammar.test(element))) {
    return refused('signature_header_malformed')
  }
  const timestamps = valuesOf(elements, 'ts')
  const [timestamp] = timestamps
  if (timestamp === undefined) return refused('timestamp_missing')
  if (timestamps.length > 1) return refused('timestamp_repeated')
  if (!unixSeconds.test(timestamp)) return refused('timestamp_malformed')
  const texts = valuesOf(elements, 'h1')
  if (texts.length === 0) return refused('signature_scheme_missing')
  if (texts.length > mostSignatures) return refused('too_many_signatures')
  // Paddle's own vectors have a readable `h1` beside one that is none; each counts for itself.
  const signatures = texts
    .map((text) => decodeCanonicalHex(text, digestBytes))
    .filter((signature) => signature !== undefined)
  return signatures.length > 0
    ? { ok: true, timestamp, signatures }
    : refused('signature_malformed')
}

function valuesOf(elements: readonly string[], name: string): readonly string[] {
  const prefix = `${name}=`
  return elements
    .filter((element) => element.startsWith(prefix))
    .map((element) => element.slice(prefix.length))
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
