import type { LookUp } from '../database/find-rows.ts'
import {
  amountKey,
  customerKey,
  metadataKey,
  payableIdKey,
  payableKey,
  phoneKey,
} from '../database/payment-keys.ts'
import { numberText } from '../invoices/number.ts'
import { readUuid } from '../kernel/ids.ts'
import type { Payable } from '../payments/payment.ts'
import { daysAround, readAmountAndDay } from './read-amount-and-day.ts'

export interface FindContext {
  /** The names of the gateways among whose references it is looked. */
  readonly gateways: readonly string[]
  /** The names of metadata that payments are found by. */
  readonly searchedMetadata: readonly string[]
  readonly now: Date
}

/** Payments of one amount and day that are looked at for those of a currency. */
export const mostOfAmount = 300

/** All that a text may be, the surest first. */
export function lookUpsOf(text: string, context: FindContext): readonly LookUp[] {
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
