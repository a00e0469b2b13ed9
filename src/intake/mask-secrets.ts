import { isJsonObject, type JsonObject, type JsonValue } from '../gateways/body/json.ts'
import { jsonTextOf } from '../gateways/body/json-text.ts'
import type { Payload } from '../gateways/body/payload.ts'
import { maskToken } from '../gateways/signing/token-reference.ts'

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
