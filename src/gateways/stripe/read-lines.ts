import type { StatedInvoiceLine, StatedPeriod } from '../../payments/outcome.ts'
import { isJsonObject, numberTextOf, path, textOf } from '../body/json.ts'
import type { JsonObject, JsonValue } from '../body/json.ts'
import { timeIn } from './fields.ts'

/** The lines of an invoice as far as it shows them, and whether that is all of them. */
interface Shown {
  readonly lines: readonly JsonObject[]
  readonly areAll: boolean
}

function shownLines(invoice: JsonObject): Shown {
  const data = path(invoice, 'lines', 'data')
  const all = Array.isArray(data) ? (data as readonly JsonValue[]) : []
  const lines = all.filter(isJsonObject)
  const hasMore = path(invoice, 'lines', 'has_more') !== false
  return { lines, areAll: Array.isArray(data) && lines.length === all.length && !hasMore }
}

/**
 * The time that an invoice pays for: that of its subscription's items, not of prorations, and not
 * `period_start` and `period_end`, which say when what it lists was added. Usage is billed with the
 * next period: of times that differ the last one counts. Undefined if two begin then and end apart.
 * https://docs.stripe.com/api/invoices/line_item
 */
export function periodOf(invoice: JsonObject): Required<StatedPeriod> | undefined {
  const periods = shownLines(invoice).lines.filter(isOfPeriod).flatMap(periodOfLine)
  const last = Math.max(...periods.map(({ startsAt }) => startsAt.getTime()))
  const [period, ...others] = periods.filter(({ startsAt }) => startsAt.getTime() === last)
  const agree = others.every(({ endsAt }) => endsAt.getTime() === period?.endsAt.getTime())
  return agree ? period : undefined
}

/** What a subscription's item costs for a period; in both layouts that lines have had. */
function isOfPeriod(line: JsonObject): boolean {
  const details = path(line, 'parent', 'subscription_item_details')
  if (isJsonObject(details)) return details.get('proration') !== true
  return line.get('type') === 'subscription' && line.get('proration') !== true
}

function periodOfLine(line: JsonObject): readonly Required<StatedPeriod>[] {
  const startsAt = timeIn(path(line, 'period', 'start'))
  const endsAt = timeIn(path(line, 'period', 'end'))
  const isPeriod = startsAt !== undefined && endsAt !== undefined && startsAt < endsAt
  return isPeriod ? [{ startsAt, endsAt }] : []
}

/** The lines as the document shows them; undefined unless every one of them is known. */
export function statedLines(invoice: JsonObject): readonly StatedInvoiceLine[] | undefined {
  const { lines, areAll } = shownLines(invoice)
  const stated = lines.flatMap(statedLine)
  return areAll && stated.length > 0 && stated.length === lines.length ? stated : undefined
}

function statedLine(line: JsonObject): readonly StatedInvoiceLine[] {
  const amount = signedAmount(line.get('amount'))
  if (amount === undefined) return []
  const description = (textOf(line.get('description')) ?? '').slice(0, longestDescription)
  const quantity = Number(numberTextOf(line.get('quantity')) ?? 1)
  const isCount = Number.isSafeInteger(quantity) && quantity > 0
  return [{ description: description.toWellFormed(), quantity: isCount ? quantity : 1, amount }]
}

const longestDescription = 500
/** A credit is negative. */
const signedUnits = /^-?(?:0|[1-9]\d{0,14})$/

function signedAmount(value: JsonValue | undefined): bigint | undefined {
  const text = numberTextOf(value)?.match(signedUnits)?.[0]
  return text === undefined ? undefined : BigInt(text)
}
