import { isJsonObject, type JsonValue } from '../body/json.ts'
import { parseFormBody } from '../body/parse-form-body.ts'
import { flatFields } from '../body/parse-json.ts'
import { parseJsonBody } from '../body/parse-json-body.ts'
import type { UnreadableReason } from '../body/payload.ts'

/** The outer fields of a callback: `data` and `signature`, and any others that came. */
export type EnvelopeResult =
  | { readonly ok: true; readonly fields: ReadonlyMap<string, JsonValue> }
  | { readonly ok: false; readonly reason: UnreadableReason }

/**
 * Reads form fields, or a JSON object with the same two. The body alone decides which, because a
 * content type is no input to a security decision. Everything is decoded exactly once, and nothing
 * is repaired: a blank left by a sender that did not escape a plus stays a blank.
 */
export function readEnvelope(body: Uint8Array): EnvelopeResult {
  const payload = opensObject(body) ? parseJsonBody(body, flatFields) : parseFormBody(body)
  if (payload.kind === 'unreadable') return { ok: false, reason: payload.reason }
  // JSON that opens with a brace is an object: the other case is only for the type.
  return { ok: true, fields: isJsonObject(payload.value) ? payload.value : new Map() }
}

const byteOrderMark = [0xef, 0xbb, 0xbf]
const blanks: ReadonlySet<number | undefined> = new Set([0x09, 0x0a, 0x0d, 0x20])
const openBrace = 0x7b

function opensObject(body: Uint8Array): boolean {
  let at = byteOrderMark.every((byte, index) => body[index] === byte) ? byteOrderMark.length : 0
  while (blanks.has(body[at])) at += 1
  return body[at] === openBrace
}
