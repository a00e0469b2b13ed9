import { decodeText } from './decode-text.ts'
import { endOfNested } from './end-of-nested.ts'
import { deepestNesting, parseJson, type JsonLimits } from './parse-json.ts'
import { unreadable, type Payload, type UnparsedPayload } from './payload.ts'

/** Reads a body as JSON, whatever its content type says. Never throws. */
export function parseJsonBody(bytes: Uint8Array, limits?: JsonLimits): Payload {
  const unparsed = decodeJsonText(bytes)
  if (unparsed.kind === 'unreadable') return unparsed
  const parsed = parseJson(unparsed.text, limits)
  return parsed.ok ? { ...unparsed, value: parsed.value } : unreadable(parsed.reason)
}

/**
 * The text of a JSON object whose members are read later, by `readStored`. Only its brackets are
 * looked at here: what does not seem to be an object, or is nested too deep, is parsed at once.
 * Never throws.
 */
export function readJsonText(bytes: Uint8Array): Payload | UnparsedPayload {
  const unparsed = decodeJsonText(bytes)
  if (unparsed.kind === 'unreadable') return unparsed
  const { text } = unparsed
  const isObject = text.startsWith('{') && endOfNested(text, 0, deepestNesting) === text.length
  return isObject ? unparsed : parseJsonBody(bytes)
}

function decodeJsonText(bytes: Uint8Array): UnparsedPayload {
  const decoded = decodeText(bytes)
  if (!decoded.ok) return unreadable(decoded.reason)
  if (decoded.text === '') return unreadable('empty')
  return { kind: 'json', text: decoded.text, exact: !decoded.hadByteOrderMark }
}
