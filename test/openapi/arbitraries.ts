import fc from 'fast-check'
import type { Json } from './simplified.ts'
import { anyText } from '../support/any-text.ts'

type Hints = Readonly<Record<string, fc.Arbitrary<unknown>>>

/** Text as people write it; far shorter than it may be, where characters count as two. */
function words(least: number, most: number): fc.Arbitrary<string> {
  const short = Math.min(40, Math.max(least, Math.floor(most / 2)))
  const common = fc.constantFrom('a', 'Z', '7', ' ', '-', '"', '\\', '<', 'ї', 'é', '漢', '😀')
  return fc.string({ unit: common, minLength: least, maxLength: Math.max(least, short) })
}

const anyObject = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }), {
  maxKeys: 4,
})

/**
 * Values that a schema of the document allows. For a field whose name has a hint, half of them are
 * what the hint makes: the id of a payment that there is, a gateway that there is.
 */
export function valuesOf(document: Json, hints: Hints): (schema: Json) => fc.Arbitrary<unknown> {
  const { schemas } = document['components'] as { readonly schemas: Readonly<Record<string, Json>> }

  function values(schema: Json): fc.Arbitrary<unknown> {
    const { $ref, anyOf, type } = schema
    if (typeof $ref === 'string') return values(schemas[$ref.split('/').at(-1) ?? ''] ?? {})
    if (Array.isArray(anyOf)) return fc.oneof(...(anyOf as Json[]).map(values))
    if ('const' in schema) return fc.constant(schema['const'])
    if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]))
    if (Array.isArray(type)) {
      return fc.oneof(...type.map((one: unknown) => values({ ...schema, type: one })))
    }
    switch (type) {
      case 'null':
        return fc.constant(null)
      case 'boolean':
        return fc.boolean()
      case 'integer':
        return integers(schema)
      case 'number':
        return fc.integer({ min: 1, max: 9_999 }).map((hundredths) => hundredths / 100)
      case 'string':
        return texts(schema)
      case 'array':
        return fc.array(values(schema['items'] as Json), {
          minLength: numberOf(schema, 'minItems', 0),
          maxLength: Math.min(4, numberOf(schema, 'maxItems', 4)),
        })
      case 'object':
        return objects(schema)
      default:
        return fc.jsonValue({ maxDepth: 2 })
    }
  }

  function objects(schema: Json): fc.Arbitrary<unknown> {
    const { properties, additionalProperties, propertyNames } = schema as {
      readonly properties?: Readonly<Record<string, Json>>
      readonly additionalProperties?: Json | boolean
      readonly propertyNames?: Json
    }
    if (properties === undefined) {
      if (typeof additionalProperties !== 'object') return anyObject
      return fc.dictionary(texts(propertyNames ?? {}), values(additionalProperties), { maxKeys: 3 })
    }
    const fields = Object.entries(properties).map(([name, field]) => {
      const hint = hints[name]
      return [name, hint === undefined ? values(field) : fc.oneof(hint, values(field))] as const
    })
    const requiredKeys = (schema['required'] ?? []) as string[]
    const required = fields.filter(([name]) => requiredKeys.includes(name))
    // Of what a request may say, most say little.
    return fc.oneof(
      fc.record(Object.fromEntries(required)),
      fc.record(Object.fromEntries(fields), { requiredKeys }),
    )
  }

  return values
}

function numberOf(schema: Json, name: string, otherwise: number): number {
  const value = schema[name]
  return typeof value === 'number' ? value : otherwise
}

function integers(schema: Json): fc.Arbitrary<number> {
  const min = numberOf(schema, 'minimum', Number.MIN_SAFE_INTEGER)
  const max = numberOf(schema, 'maximum', Number.MAX_SAFE_INTEGER)
  const near = fc.integer({ min: Math.max(min, 0), max: Math.min(max, 10_000) })
  return fc.oneof(
    { arbitrary: near, weight: 4 },
    { arbitrary: fc.integer({ min, max }), weight: 1 },
  )
}

function texts(schema: Json): fc.Arbitrary<string> {
  const { format, pattern } = schema
  switch (format) {
    case 'uuid':
      return fc.uuid()
    case 'date-time':
      return fc
        .date({ min: new Date(0), max: new Date('2999-01-01'), noInvalidDate: true })
        .map((date) => date.toISOString())
    case 'uri':
      return fc.webUrl()
    default:
  }
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern))
  return words(numberOf(schema, 'minLength', 0), numberOf(schema, 'maxLength', 60))
}

// Made once: to make it costs more than the request that it goes into.
const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  anyText({ maxLength: 20 }),
  fc.constantFrom('', 'x'.repeat(3_000), -1, 0, 1.5, 1e300, Number.MAX_SAFE_INTEGER, '\u0000'),
)
const addedName = fc.string({ maxLength: 12 })

/** The same with a fault somewhere: a field lost, added, or of another kind. */
export function spoilt(value: unknown): fc.Arbitrary<unknown> {
  if (Array.isArray(value)) {
    const items = value as unknown[]
    return fc.oneof(odd, ...items.map((item, at) => spoilt(item).map((one) => items.with(at, one))))
  }
  if (typeof value !== 'object' || value === null) return odd
  const fields = Object.entries(value as Json)
  const changes = fields.flatMap(([name, field]) => {
    const { [name]: _, ...others } = value as Json
    return [fc.constant(others), spoilt(field).map((one) => ({ ...others, [name]: one }))]
  })
  const added = fc.tuple(addedName, odd).map(([name, one]) => ({ ...value, [name]: one }))
  return fc.oneof(odd, added, ...changes)
}
