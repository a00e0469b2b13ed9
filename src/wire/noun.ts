import { z } from 'zod'
import { assertNever } from '../kernel/errors.ts'
import { snakeCase } from '../kernel/field-names.ts'
import type { Field, Fields, JsonValues } from '../kernel/noun.ts'
import { amount, id, time } from './fields.ts'

type ShapeOf<F extends Fields> = {
  -readonly [Name in keyof JsonValues<F>]: z.ZodType<JsonValues<F>[Name]>
}

/** The JSON of a noun, for the OpenAPI document and the tests: no row is read by it. */
export function schemaOf<F extends Fields>(fields: F): z.ZodObject<ShapeOf<F>, z.core.$strict> {
  const shape = Object.entries(fields).map(([name, field]) => [snakeCase(name), fieldSchema(field)])
  return z.strictObject(Object.fromEntries(shape)) as never
}

/** The JSON of a field. */
export function fieldSchema(field: Field<unknown, unknown>): z.ZodType {
  const schema = plainSchema(field)
  if (field.isOptional === true) return schema.optional()
  return field.isNullable === true ? schema.nullable() : schema
}

function plainSchema(field: Field<unknown, unknown>): z.ZodType {
  const { kind, values = [], fields = {}, item = field, least } = field
  switch (kind) {
    case 'id':
      return id
    case 'text':
      return z.string()
    case 'choice':
      return z.enum(values)
    case 'count':
      return least === undefined ? z.int() : z.int().min(least)
    case 'number':
      return z.number()
    case 'minor_units':
      return amount
    case 'time':
      return time
    case 'flag':
      return z.boolean()
    case 'object':
      return z.record(z.string(), z.unknown())
    case 'money':
    case 'part':
      return schemaOf(fields)
    case 'list':
      return z.array(fieldSchema(item)).readonly()
    default:
      return assertNever(kind)
  }
}
