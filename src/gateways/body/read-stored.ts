import { isJsonObject, type JsonValue } from './json.ts'
import { parseJson } from './parse-json.ts'
import { unreadable, type Payload } from './payload.ts'

/**
 * Reads the `payload` column of a stored call: the result is the same as for the request. A call of
 * kind `unreadable` has no text; its gateway parses the stored bytes again. Never throws.
 */
export function readStored(kind: 'json' | 'form', text: string): Payload {
  const parsed = parseJson(text)
  if (!parsed.ok) return unreadable(parsed.reason)
  if (kind === 'json') return { kind, text, value: parsed.value, exact: true }
  const fields = toFields(parsed.value)
  return fields === undefined
    ? unreadable('invalid_form')
    : { kind, text, value: fields, exact: false }
}

function toFields(value: JsonValue): ReadonlyMap<string, string> | undefined {
  if (!isJsonObject(value)) return undefined
  const fields = new Map<string, string>()
  for (const [name, field] of value) {
    if (typeof field !== 'string') return undefined
    fields.set(name, field)
  }
  return fields
}
