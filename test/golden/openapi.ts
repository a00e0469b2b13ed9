import { isFields, sortedFields, type Structure } from './shape.ts'

/** Words for people, where they are not the names of fields of ours. */
const prose: ReadonlySet<string> = new Set([
  'description',
  'summary',
  'title',
  'example',
  'examples',
])
/** What lies in these is named by us, not by OpenAPI. */
const ownNames: ReadonlySet<string> = new Set(['properties', 'schemas'])
/** Lists whose order says nothing. */
const unordered: ReadonlySet<string> = new Set(['enum', 'required', 'type', 'x-codes'])

/** The structure of the document of the API: all of it but its version, its prose and its order. */
export function openApiStructure(document: Readonly<Record<string, unknown>>): Structure {
  const { info: _info, ...rest } = document
  return structureOf(rest)
}

function structureOf(value: unknown, place = ''): Structure {
  if (Array.isArray(value)) return listOf(value, place)
  if (!isFields(value)) return String(value)
  if (typeof value['$ref'] === 'string') return `the ${value['$ref'].split('/').at(-1)}`
  const isOwn = ownNames.has(place)
  const { required, properties } = value
  const parts = Object.entries(value).flatMap(([name, one]): [string, Structure][] => {
    if (isOwn) return [[name, structureOf(one)]]
    if (prose.has(name) || (name === 'required' && isFields(properties))) return []
    if (name !== 'properties' || !isFields(one)) return [[name, structureOf(one, name)]]
    return [[name, fieldsOf(one, Array.isArray(required) ? required : [])]]
  })
  return shortened(sortedFields(parts))
}

/** As in the JSON of commands: `?` is behind the name of what may be left out. */
function fieldsOf(
  properties: Readonly<Record<string, unknown>>,
  required: readonly unknown[],
): Structure {
  return sortedFields(
    Object.entries(properties).map(([name, schema]) => [
      required.includes(name) ? name : `${name}?`,
      structureOf(schema),
    ]),
  )
}

const textOf = (one: Structure) => (typeof one === 'string' ? one : JSON.stringify(one))

const byText = (one: Structure, other: Structure) =>
  JSON.stringify(one) < JSON.stringify(other) ? -1 : 1

function listOf(list: readonly unknown[], place: string): Structure {
  if (place === 'parameters' || place === 'tags') return byName(list)
  const parts = list.map((one) => structureOf(one))
  return unordered.has(place) ? parts.toSorted(byText) : parts
}

/** Named by where they are and what they are called; tags of a route are names alone. */
function byName(list: readonly unknown[]): Structure {
  if (!list.every(isFields)) return list.map(String).toSorted()
  return sortedFields(
    list.map(({ in: where = 'tag', name, ...rest }) => [
      `${String(where)} ${String(name)}`,
      structureOf(rest),
    ]),
  )
}

/** Without the words around the one thing that it says: `string, uuid`, the fields of an object. */
function shortened(structure: Readonly<Record<string, Structure>>): Structure {
  const { type, format, ...rest } = structure
  const [[name, only] = [], second] = Object.entries(rest)
  if (name === undefined && type !== undefined) {
    const plain = typeof type === 'string' ? type : Object.values(type).map(textOf).join(' | ')
    return format === undefined ? plain : `${plain}, ${textOf(format)}`
  }
  const isAlone = second === undefined && only !== undefined && format === undefined
  if (isAlone && name === 'properties' && type === 'object') return only
  if (isAlone && (name === 'schema' || name === 'content') && type === undefined) return only
  return structure
}
