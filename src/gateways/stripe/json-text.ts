import { isJsonObject, numberTextOf, type JsonValue } from '../body/json.ts'

/** The JSON text of a value; every number as it was written. */
export function jsonTextOf(value: JsonValue): string {
  if (isJsonObject(value)) {
    const members = Array.from(
      value,
      ([name, member]) => `${JSON.stringify(name)}:${jsonTextOf(member)}`,
    )
    return `{${members.join(',')}}`
  }
  if (Array.isArray(value)) {
    return `[${(value as readonly JsonValue[]).map(jsonTextOf).join(',')}]`
  }
  return numberTextOf(value) ?? JSON.stringify(value)
}
