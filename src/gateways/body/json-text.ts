import { isJsonObject, numberTextOf, type JsonValue } from './json.ts'

/** The JSON text of a value, without spaces; every number as it was written. */
export function jsonTextOf(value: JsonValue): string {
  if (isJsonObject(value)) {
    const members = Array.from(
      value,
      ([name, member]) => `${JSON.stringify(name)}:${jsonTextOf(member)}`,
    )
    return `{${members.join(',')}}`
  }
  if (isList(value)) return `[${value.map(jsonTextOf).join(',')}]`
  return numberTextOf(value) ?? JSON.stringify(value)
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}
