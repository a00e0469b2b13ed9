import { findCurrency } from '../../kernel/currency.ts'
import { readUuid } from '../../kernel/ids.ts'
import {
  dateTime,
  digits,
  maskedCard,
  operations,
  statusWord,
  verificationWords,
} from './grammar.ts'

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
 * the same text can be sent again with other names. Whatever names a sender uses, the result is the
 * same. The pieces are in the order of their names, and so:
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
