import { decodeText } from './decode-text.ts'
import { parseJson, type JsonLimits } from './parse-json.ts'
import { unreadable, type Payload } from './payload.ts'

/** Reads a body as JSON, whatever its content type says. Never throws. */
export function parseJsonBody(bytes: Uint8Array, limits?: JsonLimits): Payload {
  const decoded = decodeText(bytes)
  if (!decoded.ok) return unreadable(decoded.reason)
  if (decoded.text === '') return unreadable('empty')
  const parsed = parseJson(decoded.text, limits)
  if (!parsed.ok) return unreadable(parsed.reason)
  const exact = !decoded.hadByteOrderMark
  return { kind: 'json', text: decoded.text, value: parsed.value, exact }
}
