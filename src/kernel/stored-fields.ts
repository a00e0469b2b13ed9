import { assertNever } from './errors.ts'
import { snakeCase } from './field-names.ts'
import type { Field, Fields } from './noun.ts'
import { isUuid } from './uuid.ts'

/** What an event stores of itself, as JSON: names in snake_case, ids and scalars alone. */
export type StoredData = Readonly<Record<string, unknown>>

/** The values of these fields, as they are stored. JSON has no whole numbers of the size of a bigint. */
export function writeFields(fields: Fields, values: StoredData): StoredData {
  const stored = Object.entries(fields).map(([name, field]) => {
    return [snakeCase(name), written(field, values[name])]
  })
  return Object.fromEntries(stored) as StoredData
}

function written({ fields }: Field<unknown, unknown>, value: unknown): unknown {
  if (value instanceof Date) return value.toISOString()
  if (fields !== undefined && value !== null) return writeFields(fields, value as StoredData)
  return typeof value === 'bigint' ? `${value}` : value
}

/** What was stored, read back; what else is stored is left out. `fault`: what cannot be read. */
export function readFields(
  fields: Fields,
  stored: StoredData,
): { readonly read: StoredData; readonly fault?: string } {
  const values: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) {
    const value = readValue(field, stored[snakeCase(name)])
    if (value === undefined) return { read: values, fault: snakeCase(name) }
    values[name] = value
  }
  return { read: values }
}

/** Strict; undefined: what is stored is no such value. */
function readValue(field: Field<unknown, unknown>, stored: unknown): unknown {
  if (stored === null && field.isNullable === true) return null
  switch (field.kind) {
    case 'id':
      return isUuid(stored) ? stored : undefined
    case 'text':
      return typeof stored === 'string' && field.pattern?.test(stored) !== false
        ? stored
        : undefined
    case 'choice':
      return field.values?.find((one) => one === stored)
    case 'flag':
      return typeof stored === 'boolean' ? stored : undefined
    case 'count':
      return Number.isSafeInteger(stored) && Number(stored) >= (field.least ?? 0)
        ? stored
        : undefined
    case 'minor_units':
      return readWhole(stored)
    case 'time':
      return readTime(stored)
    case 'part':
      return readPart(field.fields ?? {}, stored)
    case 'money':
    case 'number':
    case 'object':
    case 'list':
      throw new Error(`no field of the kind ${field.kind} is stored`)
    default:
      return assertNever(field.kind)
  }
}

function readWhole(stored: unknown): bigint | undefined {
  return typeof stored === 'string' && /^(?:0|[1-9]\d{0,18})$/.test(stored)
    ? BigInt(stored)
    : undefined
}

/** Only as we write it: `new Date` reads a great deal more. */
function readTime(stored: unknown): Date | undefined {
  if (typeof stored !== 'string') return undefined
  const date = new Date(stored)
  return !Number.isNaN(date.getTime()) && date.toISOString() === stored ? date : undefined
}

function readPart(fields: Fields, stored: unknown): StoredData | undefined {
  if (typeof stored !== 'object' || stored === null) return undefined
  const { read, fault } = readFields(fields, stored as StoredData)
  return fault === undefined ? read : undefined
}
