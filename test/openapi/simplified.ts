export type Json = Record<string, unknown>

/**
 * The same document in the forms that readers and generators of clients know best. Nothing else is
 * allowed by it than before: where a `format` says what a text is, the pattern of it goes, and the
 * bounds of every number that JSON holds exactly.
 */
export function simplified(value: Json): Json {
  return walk(value) as Json
}

function walk(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(walk)
  if (typeof value !== 'object' || value === null) return value
  const inner = Object.fromEntries(
    Object.entries(value).map(([name, one]: [string, unknown]) => [name, walk(one)]),
  )
  return simple(inner)
}

const formats = new Set(['uuid', 'date-time'])

function simple(schema: Json): Json {
  const { shownAs, ...rest } = schema
  if (shownAs !== undefined) return { ...(shownAs as Json), ...picked(rest, 'description') }
  const { format, minimum, maximum, propertyNames } = rest
  if (typeof format === 'string' && formats.has(format)) delete rest['pattern']
  if (format !== undefined && rest['contentEncoding'] === format) {
    // JSON Schema knows it as an encoding alone.
    delete rest['format']
    delete rest['pattern']
  }
  if (rest['type'] === 'integer' && maximum === Number.MAX_SAFE_INTEGER) {
    rest['format'] = 'int64'
    if (minimum === Number.MIN_SAFE_INTEGER) delete rest['minimum']
    delete rest['maximum']
  }
  if (JSON.stringify(propertyNames) === '{"type":"string"}') delete rest['propertyNames']
  return withoutChoice(rest)
}

function picked(schema: Json, name: string): Json {
  const value = schema[name]
  return value === undefined ? {} : { [name]: value }
}

/** A choice of one is none; a choice between a plain type and null is a type of two. */
function withoutChoice(schema: Json): Json {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf)) return schema
  const choices = anyOf as Json[]
  const [first = {}, second] = choices
  if (second === undefined) return { ...first, ...rest }
  const isNull = choices.length === 2 && JSON.stringify(second) === '{"type":"null"}'
  if (!isNull || typeof first['type'] !== 'string') return { ...rest, anyOf: choices }
  const values = first['enum']
  return {
    ...first,
    type: [first['type'], 'null'],
    ...(Array.isArray(values) && { enum: [...(values as unknown[]), null] }),
    ...rest,
  }
}
