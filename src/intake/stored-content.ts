import { bodyContext } from '../database/calls.ts'
import { jsonTextOf } from '../gateways/body/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../gateways/body/json.ts'
import type { Payload, UnparsedPayload } from '../gateways/body/payload.ts'
import type { Gateway } from '../gateways/gateway.ts'
import { maskToken } from '../gateways/signing/token-reference.ts'
import type { Cipher } from '../kernel/encryption.ts'
import type { NewCall } from './insert-calls.ts'
import { maskCardData } from './mask-card-data.ts'

type Content = Pick<NewCall, 'kind' | 'payload' | 'body' | 'bodyEncrypted'>

interface Body {
  readonly callId: string
  readonly bytes: Uint8Array
  readonly payload: Payload | UnparsedPayload
}

/** What a gateway masks, and what must stay as it is. */
type MaskedFields = Pick<Gateway, 'secretFields' | 'readFields'>

/**
 * What is stored of a body. If it carries card data, or values in the gateway's secret fields, the
 * payload masks them and the exact bytes are kept encrypted; without a key they are not kept.
 */
export function storedContent(
  { callId, bytes, payload }: Body,
  { secretFields, readFields }: MaskedFields,
  cipher: Cipher | undefined,
): Content {
  const encrypted = () =>
    cipher && { body: cipher.encrypt(bytes, bodyContext(callId)), bodyEncrypted: true }
  const inClear = { body: bytes, bodyEncrypted: false }
  const shown = 'value' in payload ? maskSecrets(payload, secretFields) : payload
  if (shown.kind === 'unreadable') {
    // It may carry a secret that cannot be found; without a key it is kept all the same, because
    // nothing signed may be lost.
    return { kind: 'unreadable', payload: null, ...(encrypted() ?? inClear) }
  }
  const text = maskCardData(shown.text, readFields)
  const readable = { kind: shown.kind, payload: text }
  const alone = { body: null, bodyEncrypted: false }
  const isMasked = shown !== payload || text !== payload.text
  if (isMasked) return { ...readable, ...(encrypted() ?? alone) }
  return { ...readable, ...(shown.exact ? alone : inClear) }
}

/**
 * The payload with `masked:...` for the value of each named field, at any depth; the text is
 * rewritten, with numbers as they were spelt. If no such field has a value, it is the same object,
 * so that the exact text stays exact. The parsed names decide: no way of writing a name evades
 * them. Never throws.
 */
export function maskSecrets(payload: Payload, fields: readonly string[]): Payload {
  if (fields.length === 0 || payload.kind === 'unreadable') return payload
  const names = new Set(fields)
  if (payload.kind === 'json') {
    const value = maskIn(payload.value, names)
    if (value === payload.value) return payload
    return { kind: 'json', text: jsonTextOf(value), value, exact: false }
  }
  if (fields.every((name) => (payload.value.get(name) ?? '') === '')) return payload
  const value = new Map(
    Array.from(payload.value, ([name, text]) => [name, names.has(name) ? maskText(text) : text]),
  )
  return { kind: 'form', text: jsonTextOf(value), value, exact: false }
}

/** Copies only what changes, which is mostly nothing. */
function maskIn(value: JsonValue, names: ReadonlySet<string>): JsonValue {
  if (isJsonObject(value)) return maskMembers(value, names)
  return isList(value) ? maskItems(value, names) : value
}

function maskItems(items: readonly JsonValue[], names: ReadonlySet<string>): readonly JsonValue[] {
  let masked: JsonValue[] | undefined
  for (const [index, item] of items.entries()) {
    const kept = maskIn(item, names)
    if (kept === item) continue
    masked ??= [...items]
    masked[index] = kept
  }
  return masked ?? items
}

/** Giving a key another value does not move it. */
function maskMembers(members: JsonObject, names: ReadonlySet<string>): JsonObject {
  let masked: Map<string, JsonValue> | undefined
  for (const [name, member] of members) {
    const kept = names.has(name) ? maskWhole(member) : maskIn(member, names)
    if (kept === member) continue
    masked ??= new Map(members)
    masked.set(name, kept)
  }
  return masked ?? members
}

/** A named field's own value: nothing of it is shown, unless it is empty. */
function maskWhole(value: JsonValue): JsonValue {
  if (value === null || value === false) return value
  return typeof value === 'string' ? maskText(value) : maskToken(jsonTextOf(value))
}

function maskText(text: string): string {
  return text === '' ? text : maskToken(text)
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}
