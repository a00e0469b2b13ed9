import type { Kysely } from 'kysely'
import { findCallTime, lookUp, type LookedUp, type LookUp } from '../database/find-rows.ts'
import {
  amountKey,
  customerKey,
  metadataKey,
  payableIdKey,
  payableKey,
  phoneKey,
} from '../database/payment-keys.ts'
import { findPayments } from '../database/payments.ts'
import type { Tables } from '../database/tables.ts'
import { numberText } from '../invoices/number.ts'
import { fieldError } from '../kernel/errors.ts'
import { readUuid } from '../kernel/uuid.ts'
import { text as printable } from '../kernel/input-rules.ts'
import { faultOf } from '../kernel/read-input.ts'
import type { Payable, Payment } from '../payments/payment.ts'
import { foundOf, type Found, type Hit } from '../wire/found.ts'
import { daysAround, readAmountAndDay } from './read-amount-and-day.ts'

/** No reference is longer. */
const longestText = 500
const rule = printable(longestText)

const mostHits = 50
/** Payments that are read in one statement. */
const chunk = 100
/** How many payments of an amount and day are searched for a currency, at most. */
const mostOfAmount = 300

interface FindContext {
  /** The names of the gateways among whose references it is looked. */
  readonly gateways: readonly string[]
  /** The names of metadata that payments are found by. */
  readonly searchedMetadata: readonly string[]
  readonly now: Date
}

/**
 * What has this text as its id or reference, or its amount and day: exact matches, each by an index.
 * Error: query_invalid.
 */
export async function find(
  db: Kysely<Tables>,
  given: unknown,
  context: FindContext,
): Promise<Found> {
  const text = readSearched(given)
  const lookUps = lookUpsOf(text, context)
  const rows = await lookUp(db, lookUps, mostHits + 1)
  const hits: Hit[] = [...(await findCall(db, text))]
  const unique = withoutRepeated(rows)
  for (let at = 0; at < unique.length && hits.length <= mostHits; at += chunk) {
    hits.push(...(await readHits(db, unique.slice(at, at + chunk), lookUps)))
  }
  const hasMore = hits.length > mostHits || isCutShort(rows, lookUps)
  return foundOf({ data: hits.slice(0, mostHits), hasMore })
}

/** Each row where it stands first. */
function withoutRepeated(rows: readonly LookedUp[]): readonly LookedUp[] {
  const first = new Map<string, LookedUp>()
  for (const row of rows) {
    const name = `${row.kind}/${row.id}`
    if (!first.has(name)) first.set(name, row)
  }
  return [...first.values()]
}

/** The text without blanks around it. Error: query_invalid. */
export function readSearched(given: unknown, field = 'text'): string {
  const { data, error } = rule.safeParse(typeof given === 'string' ? given.trim() : given)
  if (error === undefined) return data
  throw fieldError('query_invalid', field, faultOf(error).message)
}

async function findCall(db: Kysely<Tables>, text: string): Promise<readonly Hit[]> {
  const id = readUuid(text)
  const createdAt = id === undefined ? undefined : await findCallTime(db, id)
  if (id === undefined || createdAt === undefined) return []
  return [{ kind: 'call', id, by: 'id', createdAt }]
}

/** Payments of other currencies than the one that is asked for are left out. */
async function readHits(
  db: Kysely<Tables>,
  rows: readonly LookedUp[],
  lookUps: readonly LookUp[],
): Promise<readonly Hit[]> {
  const ids = rows.filter(({ kind }) => kind === 'payment').map(({ id }) => id)
  const payments = await findPayments(db, ids)
  return rows.flatMap((row) => {
    const { kind, id, by, createdAt } = row
    if (kind !== 'payment') return [{ kind, id, by, createdAt }]
    const payment = payments.get(id)
    const currency = currencyOf(lookUps[row.place])
    const isOther = currency !== undefined && payment?.currency !== currency
    return payment === undefined || isOther ? [] : [paymentHit(payment, by)]
  })
}

function currencyOf(lookUp: LookUp | undefined): string | undefined {
  return lookUp?.in === 'keys' ? lookUp.currency : undefined
}

function paymentHit(payment: Payment, by: Hit['by']): Hit {
  const { id, type, parentId, gateway, live, status, amount, currency, payable, createdAt } =
    payment
  const kind = type === 'refund' ? 'refund' : 'payment'
  return { kind, id, by, createdAt, parentId, gateway, live, status, amount, currency, payable }
}

/** Whether there are more payments of an amount and a day than were looked at for a currency. */
function isCutShort(rows: readonly LookedUp[], lookUps: readonly LookUp[]): boolean {
  return lookUps.some(
    (lookUp, place) =>
      currencyOf(lookUp) !== undefined &&
      rows.filter((row) => row.place === place).length >= mostOfAmount,
  )
}

/** All that a text may be, the surest first. */
function lookUpsOf(text: string, context: FindContext): readonly LookUp[] {
  const { gateways, searchedMetadata } = context
  const id = readUuid(text)
  const payables = payablesIn(text)
  const phone = phoneKey(text)
  return [
    ...(id === undefined ? [] : [{ in: 'ids', by: 'id', id } as const]),
    { in: 'references', by: 'provider_reference', reference: text, gateways },
    ...invoiceNumbersIn(text),
    ...payables.map((payable) => keyed('payable', payableKey(payable))),
    ...payables.map((payable) => ({ in: 'payables', by: 'payable', payable }) as const),
    keyed('payable_id', payableIdKey(text)),
    keyed(text.includes('@') ? 'email' : 'customer_id', customerKey(text)),
    ...(phone === undefined ? [] : [keyed('phone', phone)]),
    ...searchedMetadata.map((name) => keyed('metadata', metadataKey(name, text))),
    ...amountsIn(text, context.now),
  ]
}

function keyed(by: LookUp['by'], key: Buffer): LookUp {
  return { in: 'keys', by, key }
}

/** `order:42` or `order/42`; the id may have more of both. */
function payablesIn(text: string): readonly Payable[] {
  return [':', '/'].flatMap((mark) => {
    const [type = '', ...rest] = text.split(mark)
    const id = rest.join(mark)
    return type === '' || id === '' ? [] : [{ type, id }]
  })
}

/** Exactly as it is printed: `INV-2026-0042`. */
function invoiceNumbersIn(text: string): readonly LookUp[] {
  const [, series = '', digits = ''] = /^(.+)-(\d{4,18})$/.exec(text) ?? []
  if (series === '' || numberText(series, BigInt(digits)) !== text) return []
  return [{ in: 'numbers', by: 'invoice_number', series, number: BigInt(digits) }]
}

function amountsIn(text: string, now: Date): readonly LookUp[] {
  const read = readAmountAndDay(text, now)
  if (read === undefined) return []
  const { amounts, currency, day } = read
  const most = currency === undefined ? undefined : mostOfAmount
  return daysAround(day).flatMap((one) =>
    amounts.map((amount): LookUp => {
      const key = amountKey(amount, one)
      return { in: 'keys', by: 'amount', key, currency, most }
    }),
  )
}
