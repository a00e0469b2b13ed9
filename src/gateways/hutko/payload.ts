import { decodeText } from '../body/decode-text.ts'
import { isJsonObject, numberTextOf, textOf, type JsonValue } from '../body/json.ts'
import { jsonTextOf } from '../body/json-text.ts'
import { parseFormBody } from '../body/parse-form-body.ts'
import { flatFields, type JsonLimits } from '../body/parse-json.ts'
import { parseJsonBody } from '../body/parse-json-body.ts'
import { unreadable, type Payload, type UnreadableReason } from '../body/payload.ts'
import type { RawRequest } from '../gateway.ts'
import { decodeCanonicalBase64 } from '../signing/canonical-base64.ts'
import { readXml } from './xml.ts'

/** Parameters by name, as JSON, a form or XML gave them. */
export type Fields = ReadonlyMap<string, JsonValue>

/** A callback's outer form, which determines what of it is signed. */
export type Envelope =
  /** Flat parameters, each of them signed. */
  | { readonly version: '1.0'; readonly fields: Fields }
  /** The text of `data` is signed unchanged. */
  | { readonly version: '2.0'; readonly fields: Fields; readonly data: JsonValue }
  | {
      readonly version: undefined
      readonly reason: UnreadableReason | 'body_not_an_object'
    }

/** Flat parameters, and the wrapper that may be around them. */
const limits: JsonLimits = { ...flatFields, keptDepth: 2 }

/**
 * Never throws. The content type does not count: only the body decides. Nested values are not
 * signed, so none of them is read.
 */
export function readEnvelope({ body }: RawRequest): Envelope {
  return toEnvelope(readBody(body, limits))
}

/** The callback with only these of its parameters, as they are spelt. */
export function bodyOf(fields: Fields, names: readonly string[]): string {
  return jsonTextOf(new Map(names.map((name) => [name, fields.get(name) ?? null])))
}

/**
 * The payload that is stored: for protocol 2.0 the JSON in `data`, otherwise the body itself. Never
 * throws.
 */
export function parseCallback({ body }: RawRequest): Payload {
  const payload = readBody(body)
  const envelope = toEnvelope(payload)
  if (envelope.version !== '2.0') return payload
  const data = textOf(envelope.data)
  const bytes = data === undefined ? undefined : decodeCanonicalBase64(data)
  if (bytes === undefined) return unreadable('invalid_json')
  const inner = parseJsonBody(bytes)
  return inner.kind === 'json' ? { ...inner, exact: false } : inner
}

/** The parameters of a payload, out of the wrapper if it has one. */
function fieldsOf(payload: Payload): Fields | undefined {
  const value = 'value' in payload ? payload.value : undefined
  return isJsonObject(value) ? (wrapped(value, 'response') ?? value) : undefined
}

/** The order's parameters: those of `order` in a payload of protocol 2.0. */
export function orderFieldsOf(payload: Payload): Fields | undefined {
  const fields = fieldsOf(payload)
  return fields && (wrapped(fields, 'order') ?? fields)
}

/**
 * The text of a value that is signed and read; undefined if it counts as absent, or is no scalar.
 */
export function scalarOf(value: JsonValue | undefined): string | undefined {
  const text = typeof value === 'string' ? value : numberTextOf(value)
  return text === '' ? undefined : text
}

/** Whether a value is a text, a number, or absent. */
export function isScalar(value: JsonValue | undefined): boolean {
  return value === null || value === '' || value === undefined || scalarOf(value) !== undefined
}

function readBody(body: Uint8Array, jsonLimits?: JsonLimits): Payload {
  const decoded = decodeText(body)
  if (!decoded.ok) return unreadable(decoded.reason)
  const [first] = decoded.text.trimStart()
  if (first === '<') return readXml(decoded.text)
  return first === '{' || first === '[' ? parseJsonBody(body, jsonLimits) : parseFormBody(body)
}

function toEnvelope(payload: Payload): Envelope {
  if (payload.kind === 'unreadable') return { version: undefined, reason: payload.reason }
  const fields = fieldsOf(payload)
  if (fields === undefined) return { version: undefined, reason: 'body_not_an_object' }
  const data = fields.get('data')
  const isEnvelope = fields.get('version') === '2.0' && data !== undefined
  return isEnvelope ? { version: '2.0', fields, data } : { version: '1.0', fields }
}

/** Only as the sole member: beside others there would be two readings. */
function wrapped(fields: Fields, name: string): Fields | undefined {
  const inner = fields.get(name)
  return fields.size === 1 && isJsonObject(inner) ? inner : undefined
}
