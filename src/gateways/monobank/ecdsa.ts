import { verify, type KeyObject } from 'node:crypto'
import { decodeCanonicalBase64 } from '../signing/canonical-base64.ts'

export const signatureHeader = 'x-sign'

/** Why a header carries no signature. */
export const headerRefusals = [
  'signature_missing',
  'signature_too_long',
  'signature_not_base64',
  'signature_not_der',
] as const
type HeaderRefusal = (typeof headerRefusals)[number]

export type SignatureResult =
  | { readonly ok: true; readonly signature: Uint8Array }
  | { readonly ok: false; readonly reason: HeaderRefusal }

/** The header's text as a signature; a text in any other form never reaches a key. */
export function readSignature(header: string | undefined): SignatureResult {
  if (header === undefined || header.trim() === '') return refused('signature_missing')
  if (header.length > longestHeader) return refused('signature_too_long')
  const signature = decodeCanonicalBase64(header)
  if (signature === undefined) return refused('signature_not_base64')
  return isDerSignature(signature) ? { ok: true, signature } : refused('signature_not_der')
}

/** ECDSA with SHA-256 over the raw bytes; one of the keys must match. */
export function isSignedWith(
  keys: readonly KeyObject[],
  body: Uint8Array,
  signature: Uint8Array,
): boolean {
  return keys.some((key) => verify('sha256', body, { key, dsaEncoding: 'der' }, signature))
}

/** Base64 of the 72 bytes that the longest DER signature of the curve has. */
const longestHeader = 96

const sequenceTag = 0x30
const integerTag = 0x02

/** A sequence of two positive integers, each as short as possible, with nothing after it. */
function isDerSignature(bytes: Uint8Array): boolean {
  if (bytes[0] !== sequenceTag || bytes[1] !== bytes.length - 2) return false
  return endOfInteger(bytes, endOfInteger(bytes, 2)) === bytes.length
}

/** Past the end of any bytes: nothing begins there, and nothing ends there. */
const nowhere = Number.POSITIVE_INFINITY

/** Where the integer that begins at `at` ends; nowhere unless it is positive and minimal. */
function endOfInteger(bytes: Uint8Array, at: number): number {
  const [tag, length = 0, first = 0, second = 0] = bytes.subarray(at, at + 4)
  if (tag !== integerTag || length === 0 || first >= 0x80) return nowhere
  // A leading zero is there to keep the sign. A lone one, the number zero, fails here as well: what
  // follows it is the next tag, or nothing.
  if (first === 0 && second < 0x80) return nowhere
  return at + 2 + length
}

function refused(reason: HeaderRefusal): SignatureResult {
  return { ok: false, reason }
}
