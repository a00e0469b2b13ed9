import { parseMinorUnits } from '../../kernel/money.ts'
import type { InvoiceOutcome, StatedInvoiceLine } from '../../payments/outcome.ts'
import { isJsonObject, numberTextOf, path, textOf, type JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import { isCharged, isId, timeOf, totalOf } from './payload.ts'

/**
 * The document of a transaction, which is known by the transaction's id: its own id comes later,
 * and its PDF is asked for by that one, too. Undefined as long as it bears no number: it is not
 * issued yet. A link to the PDF ends within an hour, so that none is kept.
 * https://developer.paddle.com/api-reference/transactions/get-invoice-pdf
 */
export function readInvoice(transaction: JsonObject): InvoiceOutcome | undefined {
  const id = transaction.get('id')
  const number = invoiceNumberIn(transaction)
  const status = statuses.get(textOf(transaction.get('status')) ?? '')
  if (!isId(id, 'txn_') || number === undefined || status === undefined) return undefined
  const subscriptionReference = transaction.get('subscription_id')
  const issuedAt = timeOf(transaction.get('billed_at'))
  return {
    type: 'invoice',
    reference: id,
    status,
    number,
    payment: { checkoutReference: id },
    ...totalOf(path(transaction, 'details', 'totals')),
    ...linesOf(transaction),
    ...(issuedAt !== undefined && { issuedAt }),
    ...(status === 'paid' && paidAtOf(transaction)),
    ...(isId(subscriptionReference, 'sub_') && { subscriptionReference }),
  }
}

/** Those that follow `ready`: before it is billed, a transaction is no document. */
const statuses: ReadonlyMap<string, InvoiceOutcome['status']> = new Map([
  ['billed', 'issued'],
  ['past_due', 'issued'],
  ['paid', 'paid'],
  ['completed', 'paid'],
  ['canceled', 'void'],
] as const)

const numberGrammar = /^[A-Za-z0-9][A-Za-z0-9./-]{0,59}$/

/** The number that the document bears, e.g. `325-10566`; undefined if it bears none yet. */
export function invoiceNumberIn(transaction: JsonObject): string | undefined {
  const number = textOf(transaction.get('invoice_number'))
  return number !== undefined && numberGrammar.test(number) ? number : undefined
}

/** When the money was taken: the newest attempt comes first. */
function paidAtOf(transaction: JsonObject): Pick<InvoiceOutcome, 'paidAt'> {
  const payments = transaction.get('payments')
  const attempts = Array.isArray(payments) && isCharged(transaction) ? payments : []
  const captured = attempts.find((one) => path(one, 'status') === 'captured')
  const paidAt = captured === undefined ? undefined : timeOf(path(captured, 'captured_at'))
  return paidAt === undefined ? {} : { paidAt }
}

/** All lines, tax included, as they add up to the total; none if one of them cannot be read. */
function linesOf(transaction: JsonObject): Pick<InvoiceOutcome, 'lines'> {
  const stated = path(transaction, 'details', 'line_items')
  if (!Array.isArray(stated) || stated.length === 0) return {}
  const lines = stated.flatMap((line) => (isJsonObject(line) ? (lineOf(line) ?? []) : []))
  const { amount } = totalOf(path(transaction, 'details', 'totals'))
  const sum = lines.reduce((total, line) => total + line.amount, 0n)
  return lines.length === stated.length && sum === amount ? { lines } : {}
}

const quantityGrammar = /^[1-9]\d{0,8}$/

function lineOf(line: JsonObject): StatedInvoiceLine | undefined {
  const description = detail(textOf(path(line, 'product', 'name')) ?? '')
  const quantity = numberTextOf(line.get('quantity')) ?? ''
  const amount = parseMinorUnits(textOf(path(line, 'totals', 'total')))
  if (description === '' || amount === undefined || !quantityGrammar.test(quantity))
    return undefined
  return { description, quantity: Number(quantity), amount }
}
