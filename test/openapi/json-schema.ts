import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { isUuid } from '../../src/kernel/uuid.ts'
import type { Json } from './simplified.ts'

/** RFC 3339, as far as JSON Schema asks for it. */
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/

function isUri(text: string): boolean {
  return URL.canParse(text) && /^[!-~]+$/.test(text)
}

/** Strict: what JSON Schema does not know, such as a misspelt keyword, is an error. */
function validator(strict: boolean): Ajv2020 {
  return new Ajv2020({
    strict,
    allowUnionTypes: true,
    allErrors: true,
    formats: {
      uuid: isUuid,
      'date-time': (text: string) => dateTime.test(text) && !Number.isNaN(Date.parse(text)),
      uri: isUri,
      'uri-reference': (text: string) => URL.canParse(text, 'https://example.test/'),
      regex: (text: string) => isPattern(text),
      'media-range': /^[^/\s]+\/[^/\s]+$/,
      int64: { type: 'number', validate: Number.isSafeInteger },
    },
  })
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp
  } catch {
    return false
  }
}

/** Compiles a schema that is not ours, and refers to nothing outside itself. */
export function compile(schema: object): ValidateFunction {
  return validator(false).compile(schema)
}

/**
 * Compiles the schemas of a document, which refer to its components. With `exact`, an object has no
 * field that its schema does not name: so a test sees what clients should ignore.
 */
export function schemaReader(document: Json, { exact }: { readonly exact: boolean }) {
  const ajv = validator(true)
  const form = (schema: unknown) => refersTo('components', exact ? closed(schema) : schema)
  const { schemas } = document['components'] as { readonly schemas: Readonly<Json> }
  ajv.addSchema({ $id: 'components', $defs: form(schemas) })
  const compiled = new Map<object, ValidateFunction>()
  return (schema: object): ValidateFunction => {
    const known = compiled.get(schema)
    if (known !== undefined) return known
    const made = ajv.compile(form(schema) as object)
    compiled.set(schema, made)
    return made
  }
}

function refersTo(id: string, schema: unknown): unknown {
  const text = JSON.stringify(schema)
  return JSON.parse(text.replaceAll('"#/components/schemas/', `"${id}#/$defs/`)) as unknown
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(
    Object.entries(schema).map(([name, one]: [string, unknown]) => [name, closed(one)]),
  )
  const isObject = inner['type'] === 'object' && 'properties' in inner
  return isObject ? { additionalProperties: false, ...inner } : inner
}
