import { findCurrency } from '../../kernel/currency.ts'
import { readUuid } from '../../kernel/uuid.ts'
import { isJsonObject } from '../body/json.ts'
import { parseJson } from '../body/parse-json.ts'
import {
  dateTime,
  digits,
  maskedCard,
  operations,
  statusWord,
  verificationWords,
} from './grammar.ts'
import { orderFields } from './read-order.ts'

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

/** The values that decide, found in the signed text alone; undefined if the text has none. */
export interface PinnedValues {
  readonly merchant_id: string | undefined
  readonly order_id: string | undefined
  readonly order_status: string | undefined
  readonly order_time: string | undefined
  readonly amount: string | undefined
  readonly currency: string | undefined
  readonly parent_order_id: string | undefined
  readonly payment_id: string | undefined
  readonly response_status: string | undefined
  readonly reversal_amount: string | undefined
  readonly tran_type: string | undefined
  readonly verification_status: string | undefined
}

/**
 * Reads the values that decide from the signed text, without the names: those are not signed, so
 * the same text can be sent again with other names. The names do not change what is read. The pieces are in the order of their names, and so:
 *
 * - a status directly before a date and time is the order's, with the order's id before it. A text
 *   with two such pairs is ambiguous: the provider writes one, and a payer might have written one;
 * - the merchant is the last number before the order, and the charge the first one after its time;
 * - amount and currency come before anything that a payer can write, and before the masked card;
 * - the result of the request has the reversed sum after it, and after that the operation.
 *
 * `undecided`: there is no order's status. https://docs.fondy.eu, "Callbacks" and "Signature"
 */
export function pinValues(pieces: readonly string[]): PinnedValues | 'undecided' | 'ambiguous' {
  const statuses = indexesOf(pieces, (piece, at) => isStatus(piece, pieces[at + 1]))
  const [status] = statuses
  if (status === undefined) return 'undecided'
  const money = pinMoney(pieces, status - 1)
  const charge = pinCharge(pieces, status + 2)
  const result = pinResult(pieces, status + 2)
  if (statuses.length > 1 || !money || !charge || !result) return 'ambiguous'
  return {
    merchant_id: pieces.slice(0, Math.max(0, status - 1)).findLast(isNumber),
    order_id: pieces[status - 1],
    order_status: pieces[status],
    order_time: pieces[status + 1],
    ...money,
    ...charge,
    ...result,
  }
}

function pinMoney(
  pieces: readonly string[],
  order: number,
): Pick<PinnedValues, 'amount' | 'currency'> | undefined {
  const card = pieces.findIndex((piece) => maskedCard.test(piece))
  const end = card === -1 ? order : Math.min(card, order)
  const currencies = indexesOf(pieces.slice(0, Math.max(0, end)), isCurrencyCode)
  if (currencies.length > 2) return undefined
  const own = currencies.at(-1)
  if (own === undefined) return { amount: undefined, currency: undefined }
  // The payer's currency is the first of two, with the payer's amount before it.
  const before = pieces.slice(0, own)
  const amount = before.slice(before.findIndex(isCurrencyCode) + 1).find(isNumber)
  return { amount, currency: pieces[own] }
}

function pinCharge(
  pieces: readonly string[],
  start: number,
): Pick<PinnedValues, 'payment_id' | 'parent_order_id'> | undefined {
  const rest = pieces.slice(start)
  const charge = rest.findIndex(isNumber)
  const parents = rest.slice(0, charge === -1 ? rest.length : charge).filter(isId)
  if (parents.length > 1) return undefined
  return { payment_id: rest[charge], parent_order_id: parents[0] }
}

/** As it is written: the named value is compared with it. */
function isId(piece: string): boolean {
  return readUuid(piece) !== undefined
}

type Result = 'response_status' | 'reversal_amount' | 'tran_type' | 'verification_status'

function pinResult(
  pieces: readonly string[],
  start: number,
): Pick<PinnedValues, Result> | undefined {
  const rest = pieces.slice(start)
  const results = indexesOf(rest, (piece) => piece === 'success' || piece === 'failure')
  const [result = -1] = results
  const end = rest.slice(result + 1)
  const operation = new Set(end.filter((piece) => operations.has(piece)))
  const verification = new Set(end.filter((piece) => verificationWords.has(piece)))
  if (results.length > 1 || operation.size > 1 || verification.size > 1) return undefined
  return {
    response_status: rest[result],
    reversal_amount: results.length === 0 ? undefined : end.find(isNumber),
    tran_type: [...operation][0],
    verification_status: [...verification][0],
  }
}

/** The last piece has no next one: it is compared with itself, and a status is no time. */
function isStatus(piece: string, next = piece): boolean {
  return statusWord.test(piece) && dateTime.test(next)
}

function isNumber(piece: string): boolean {
  return digits.test(piece)
}

function isCurrencyCode(piece: string): boolean {
  return findCurrency(piece) !== undefined
}

function indexesOf(
  pieces: readonly string[],
  test: (piece: string, at: number) => boolean,
): readonly number[] {
  return pieces.flatMap((piece, at) => (test(piece, at) ? [at] : []))
}
