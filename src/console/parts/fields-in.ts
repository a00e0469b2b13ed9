import { isJsonObject, type JsonValue } from '../../gateways/body/json.ts'
import { jsonTextOf } from '../../gateways/body/json-text.ts'
import { parseJson } from '../../gateways/body/parse-json.ts'

export interface Field {
  /** `data.object.amount`, `items[0].name`. */
  readonly path: string
  readonly value: string
}

export interface Fields {
  readonly fields: readonly Field[]
  /** Whether none was left out. */
  readonly isWhole: boolean
}

const mostFields = 500

/** The fields of a JSON text, by their paths; undefined if it cannot be read, or has none. */
export function fieldsIn(text: string, mostCharacters: number): Fields | undefined {
  const parsed = parseJson(text)
  if (!parsed.ok) return undefined
  const fields: Field[] = []
  let length = 0
  const isFull = () => fields.length >= mostFields || length >= mostCharacters
  const walk = (path: string, value: JsonValue): boolean => {
    const inner = membersOf(path, value)
    if (inner !== undefined) return inner.every(([name, member]) => walk(name, member))
    if (isFull()) return false
    const found = { path: path === '' ? '(all)' : path, value: textOf(value) }
    fields.push(found)
    length += found.path.length + found.value.length
    return true
  }
  const isWhole = walk('', parsed.value)
  return { fields, isWhole }
}

/** Undefined: it is a value, or empty. */
function membersOf(
  path: string,
  value: JsonValue,
): readonly (readonly [string, JsonValue])[] | undefined {
  if (isJsonObject(value)) {
    if (value.size === 0) return undefined
    const prefix = path === '' ? '' : `${path}.`
    return Array.from(value, ([name, member]) => [prefix + name, member] as const)
  }
  if (!isList(value) || value.length === 0) return undefined
  return value.map((item, at) => [`${path}[${at}]`, item] as const)
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

function textOf(value: JsonValue): string {
  if (typeof value === 'string') return value
  // What has members is no field of its own: these are empty.
  return jsonTextOf(value)
}
