import { intervalUnits, type Interval, type IntervalUnit } from './subscription.ts'

/** How a caller writes the length of a period: `month`, `3 months`, `{ unit: 'month', count: 3 }`. */
export type IntervalInput =
  | IntervalUnit
  | `${number} ${IntervalUnit | `${IntervalUnit}s`}`
  | { readonly unit: IntervalUnit; readonly count?: number }

const mostUnits = 366

/** What a length must be, for messages that continue the name of a field. */
export const intervalRule =
  'must be day, week, month or year, or several of them, such as "3 months" or ' +
  `{unit: "month", count: 3}; ${mostUnits} at most`

const unitNames = intervalUnits.join('|')
const grammar = new RegExp(`^(?:([1-9]\\d{0,2}) )?(${unitNames})(s?)$`)

/** The same in JSON Schema: a text, or the object. */
export const intervalForms = [
  {
    type: 'string',
    pattern: `^(?:(?:${unitNames})|[1-9]\\d{0,2} (?:${unitNames})s?)$`,
    examples: ['month', '3 months'],
  },
  {
    type: 'object',
    properties: {
      unit: { enum: intervalUnits },
      count: { type: 'integer', minimum: 1, maximum: mostUnits, default: 1 },
    },
    required: ['unit'],
    additionalProperties: false,
  },
]

/** Undefined for what is no length of a period. */
export function readInterval(value: unknown): Interval | undefined {
  if (typeof value === 'string') return readText(value)
  if (typeof value !== 'object' || value === null || !('unit' in value)) return undefined
  const { unit: given, count = 1, ...others } = value as Readonly<Record<string, unknown>>
  const unit = intervalUnits.find((one) => one === given)
  if (unit === undefined || !isCount(count) || Object.keys(others).length > 0) return undefined
  return { unit, count }
}

function readText(text: string): Interval | undefined {
  const [, number, name, plural] = grammar.exec(text.trim().replaceAll(/\s+/g, ' ')) ?? []
  const unit = intervalUnits.find((one) => one === name)
  // "months" alone could mean anything.
  if (unit === undefined || (number === undefined && plural === 's')) return undefined
  const count = Number(number ?? 1)
  return isCount(count) ? { unit, count } : undefined
}

function isCount(count: unknown): count is number {
  return Number.isInteger(count) && typeof count === 'number' && count >= 1 && count <= mostUnits
}

/** The length in words: `month`, `3 months`. `readInterval` reads it back. */
export function intervalText({ unit, count }: Interval): string {
  return count === 1 ? unit : `${count} ${unit}s`
}
