/** A number that keeps its source text, so that no amount ever passes through a float. */
export interface JsonNumber {
  readonly number: string
}

/** An object read from JSON. A Map: no key can reach a prototype. */
export type JsonObject = ReadonlyMap<string, JsonValue>

/** What JSON holds, numbers as their source text. */
export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject

/** Whether a value is an object: neither a list nor a plain value. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return value instanceof Map
}

/** The value found by walking down objects by key; undefined if the path ends early. */
export function path(value: JsonValue, ...keys: readonly string[]): JsonValue | undefined {
  let found: JsonValue | undefined = value
  for (const key of keys) found = isJsonObject(found) ? found.get(key) : undefined
  return found
}

/** The text of a JSON string; undefined for anything else. */
export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The source text of a JSON number, e.g. `4999` or `4.999e3`; undefined for anything else. */
export function numberTextOf(value: JsonValue | undefined): string | undefined {
  const isNumber = typeof value === 'object' && value !== null && 'number' in value
  return isNumber ? value.number : undefined
}
