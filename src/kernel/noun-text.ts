import { assertNever } from './errors.ts'
import { snakeCase } from './field-names.ts'
import { moneyText, type Money } from './money.ts'
import { viewOf, type Field, type Fields, type Values } from './noun.ts'

/** What people read beside a fact: `payment` for `paymentId`, `created` for `createdAt`. */
export function labelOf(name: string, { label, kind, of }: Field<unknown, unknown>): string {
  if (label !== undefined) return label
  if (kind === 'id' && of !== undefined) return of.replaceAll('_', ' ')
  return snakeCase(name.replace(/(?<=.)At$/, '')).replaceAll('_', ' ')
}

/** A fact on one line; null: there is nothing to say. */
export function textOf(name: string, field: Field<unknown, unknown>, row: object): string | null {
  const known = row as Readonly<Record<string, unknown>>
  const value = sourceOf(known, name, field)
  if (value === null || value === undefined) return null
  const text = valueText(field, value, known['currency'])
  return text === '' ? null : text
}

/** What the text is made of: of a derived fact, the row or the fact. */
function sourceOf(row: Values<Fields>, name: string, field: Field<unknown, unknown>): unknown {
  if (field.derive === undefined) return row[name]
  return field.toText === undefined ? field.derive(row) : row
}

function valueText(
  field: Field<unknown, unknown>,
  value: unknown,
  currency?: unknown,
): string | null {
  if (field.toText !== undefined) return field.toText(value)
  // What is derived is in its form in JSON.
  if (typeof value === 'string') return value
  switch (field.kind) {
    case 'time':
      return (value as Date).toISOString()
    case 'minor_units': {
      const amount = value as bigint
      return typeof currency === 'string' ? moneyText({ amount, currency }) : String(amount)
    }
    case 'money':
      return moneyText(value as Money)
    case 'flag':
      return value === true ? 'yes' : 'no'
    case 'part':
      return JSON.stringify(viewOf(field.fields ?? {})(value as object))
    case 'object':
      return JSON.stringify(value)
    case 'list': {
      const { item = field } = field
      return (value as readonly unknown[]).map((one) => valueText(item, one)).join(', ')
    }
    case 'id':
    case 'text':
    case 'choice':
    case 'count':
    case 'number':
      return `${value as string | number}`
    default:
      return assertNever(field.kind)
  }
}

/** Each fact of a row that says something, with its label; `without` are the names of others. */
export function factsOf(
  facts: Fields,
  row: object,
  without: readonly string[] = [],
): readonly (readonly [string, string])[] {
  return Object.entries(facts).flatMap(([name, field]) => {
    if (without.includes(name)) return []
    const text = textOf(name, field, row)
    return text === null ? [] : [[labelOf(name, field), text] as const]
  })
}
