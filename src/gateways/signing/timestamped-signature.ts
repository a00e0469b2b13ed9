import type { RawRequest, Verdict } from '../gateway.ts'
import type { CredentialField, Credentials } from '../credential-fields.ts'
import { invalid, validBy } from '../gateway.ts'
import { decodeCanonicalHex } from './canonical-hex.ts'
import { findHmacSha256Secret } from './hmac.ts'

/**
 * A header such as `t=<unix seconds>,v1=<hex>`: HMAC-SHA256 over the time, a joint and the raw
 * body, once for each secret that is live at the sender. Stripe and Paddle sign like this.
 */
export interface TimestampedScheme {
  /** The names of the one header, in lower case. */
  readonly headers: readonly string[]
  /** Between two elements of the header. */
  readonly separator: string
  /** How an element begins; any other makes the header malformed. */
  readonly element: RegExp
  /** Names of the two elements that count. */
  readonly timestamp: string
  readonly signature: string
  /** Between the time and the body in what is signed. */
  readonly joint: string
  /** Whether a signature that is not 64 hex digits makes the header malformed, or is skipped. */
  readonly everyOneReadable: boolean
}

const defaultToleranceSeconds = 300
const largestToleranceSeconds = 3600

const wholeSeconds = /^[1-9]\d{0,3}$/

/** How many seconds a timestamp may lie in the past or in the future: 1 to 3600. */
function isTolerance(text: string): boolean {
  return wholeSeconds.test(text) && Number(text) <= largestToleranceSeconds
}

/** The setting `tolerance_seconds` of a gateway that signs like this. */
export function toleranceField(env: readonly string[]) {
  return {
    env,
    secret: false,
    required: false,
    default: String(defaultToleranceSeconds),
    accepts: { expected: `whole seconds from 1 to ${largestToleranceSeconds}`, test: isTolerance },
    description: 'Age that a signature may have, and how far in the future it may lie.',
  } as const satisfies CredentialField
}

const headerRefusals = [
  'signature_missing',
  'signature_header_repeated',
  'signature_header_has_space',
  'signature_header_malformed',
  'timestamp_missing',
  'timestamp_repeated',
  'timestamp_malformed',
  'signature_scheme_missing',
  'too_many_signatures',
  'signature_malformed',
] as const
type HeaderRefusal = (typeof headerRefusals)[number]

const clockRefusals = ['tolerance_invalid', 'timestamp_in_future', 'timestamp_too_old'] as const
type ClockRefusal = (typeof clockRefusals)[number]

/** Every reason for which a callback that is signed like this is refused. */
export const timestampedRefusals = [
  'not_configured',
  ...headerRefusals,
  ...clockRefusals,
  'signature_mismatch',
] as const
export type TimestampedRefusal = (typeof timestampedRefusals)[number]

/**
 * Of the credentials only `signing_secret` and `tolerance_seconds` are used. Stricter than the
 * senders' own libraries: the window has two sides, irregular headers fail.
 */
export function timestampedVerifier(scheme: TimestampedScheme) {
  return (
    request: RawRequest,
    credentials: Credentials,
    now: Date,
  ): Verdict<TimestampedRefusal> => {
    const secrets = credentials.secrets.signing_secret ?? []
    if (secrets.length === 0) return invalid('not_configured')
    const header = readHeader(scheme, request)
    if (!header.ok) return invalid(header.reason)
    const age = Math.floor(now.getTime() / 1000) - Number(header.timestamp)
    const clockFault = timestampFault(age, credentials)
    if (clockFault !== undefined) return invalid(clockFault, -age)
    const parts = [header.timestamp + scheme.joint, request.body]
    const found = findHmacSha256Secret(secrets, { parts, signatures: header.signatures })
    return found === -1 ? invalid('signature_mismatch', -age) : validBy(found)
  }
}

type Header =
  | { readonly ok: true; readonly timestamp: string; readonly signatures: readonly Uint8Array[] }
  | { readonly ok: false; readonly reason: HeaderRefusal }

function readHeader(scheme: TimestampedScheme, request: RawRequest): Header {
  const sent = scheme.headers
    .map((name) => request.headers[name])
    .filter((value) => value !== undefined)
  const [value] = sent
  if (value === undefined || value.trim() === '') return refused('signature_missing')
  if (sent.length > 1) return refused('signature_header_repeated')
  // No sender puts white space in; a header sent twice arrives joined by a comma and a space.
  if (/\s/.test(value)) return refused('signature_header_has_space')
  const elements = value.split(scheme.separator)
  if (!elements.every((element) => scheme.element.test(element))) {
    return refused('signature_header_malformed')
  }
  return readElements(scheme, elements)
}

const unixSeconds = /^[1-9]\d{0,11}$/
const mostSignatures = 10
const digestBytes = 32

function readElements(scheme: TimestampedScheme, elements: readonly string[]): Header {
  const timestamps = valuesOf(elements, scheme.timestamp)
  const [timestamp] = timestamps
  if (timestamp === undefined) return refused('timestamp_missing')
  if (timestamps.length > 1) return refused('timestamp_repeated')
  if (!unixSeconds.test(timestamp)) return refused('timestamp_malformed')
  const texts = valuesOf(elements, scheme.signature)
  if (texts.length === 0) return refused('signature_scheme_missing')
  if (texts.length > mostSignatures) return refused('too_many_signatures')
  const signatures = texts
    .map((text) => decodeCanonicalHex(text, digestBytes))
    .filter((signature) => signature !== undefined)
  const least = scheme.everyOneReadable ? texts.length : 1
  return signatures.length >= least
    ? { ok: true, timestamp, signatures }
    : refused('signature_malformed')
}

function valuesOf(elements: readonly string[], name: string): readonly string[] {
  const prefix = `${name}=`
  return elements
    .filter((element) => element.startsWith(prefix))
    .map((element) => element.slice(prefix.length))
}

/**
 * In both directions and in whole seconds; exactly the tolerance passes. Fails closed on a broken
 * clock.
 */
function timestampFault(ageSeconds: number, credentials: Credentials): ClockRefusal | undefined {
  const setting = credentials.settings.tolerance_seconds ?? String(defaultToleranceSeconds)
  if (!isTolerance(setting)) return 'tolerance_invalid'
  if (ageSeconds < -Number(setting)) return 'timestamp_in_future'
  return ageSeconds <= Number(setting) ? undefined : 'timestamp_too_old'
}

function refused(reason: HeaderRefusal): Header {
  return { ok: false, reason }
}
