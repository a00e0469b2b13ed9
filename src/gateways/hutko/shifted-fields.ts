import { readUuid } from '../../kernel/ids.ts'
import { isJsonObject } from '../body/json.ts'
import { parseJson } from '../body/parse-json.ts'
import { operations } from './grammar.ts'
import { orderFields } from './read-order.ts'
import { pinValues, type PinnedValues } from './pinned-values.ts'

/** Joins the signed values, so a value that contains it could be two. */
export const separator = '|'

/** The others may hold anything. */
const read: ReadonlySet<string> = new Set(orderFields)

const controlCharacter = /\p{Cc}/u

export const shiftFaults = [
  'additional_info_malformed',
  'fields_shifted',
  'separator_in_value',
  'value_not_text',
  'fields_ambiguous',
] as const
type ShiftFault = (typeof shiftFaults)[number]

/**
 * Why the names that a callback gives to its signed values cannot be trusted, or undefined. The
 * signature is valid by then, but it covers only the values, in the order of their names. So every
 * value that decides must be where the signed text alone says that it is. What that text says does
 * not depend on how it is split into values: those that decide nothing may hold anything. `fields`:
 * the signed parameters (none of them empty), sorted by name.
 */
export function shiftFault(fields: ReadonlyMap<string, string>): ShiftFault | undefined {
  const info = fields.get('additional_info')
  if (info !== undefined && !isJsonObjectText(info)) return 'additional_info_malformed'
  for (const [name, value] of fields) {
    if (name === 'additional_info') continue
    // It says whether money is only blocked, and is before the amount: nothing there may hide it.
    const isBefore = name < 'amount'
    if (isBefore && value.startsWith('{')) return 'fields_shifted'
    if (!isBefore && !read.has(name)) continue
    if (value.includes(separator)) return 'separator_in_value'
    if (controlCharacter.test(value)) return 'value_not_text'
  }
  const pinned = pinValues([...fields.values()].join(separator).split(separator))
  if (pinned === 'ambiguous') return 'fields_ambiguous'
  if (pinned === 'undecided') return fields.has('order_time') ? 'fields_shifted' : undefined
  return agree(fields, pinned) ? undefined : 'fields_shifted'
}

function agree(fields: ReadonlyMap<string, string>, pinned: PinnedValues): boolean {
  return Object.entries(pinned).every(([name, value]) => {
    const named = fields.get(name)
    return named === value || (value === undefined && isForeign(name, named))
  })
}

/**
 * An operation that we do not handle, or a parent that is not one of our payments: it is ignored.
 */
function isForeign(name: string, named: string | undefined): boolean {
  if (name === 'tran_type') return !operations.has(named)
  return name === 'parent_order_id' && readUuid(named) === undefined
}

function isJsonObjectText(text: string): boolean {
  const parsed = parseJson(text)
  return parsed.ok && isJsonObject(parsed.value)
}
