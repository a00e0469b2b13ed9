import { findCurrency } from '../../kernel/currency.ts'
import { parseMajorUnits, parseMinorUnits } from '../../kernel/money.ts'
import { ignored, type IgnoredOutcome } from '../../payments/outcome.ts'
import type { JsonObject } from '../body/json.ts'
import type { Payload } from '../body/payload.ts'
import { detail } from '../detail.ts'
import { captureOf, isTest, readAdditionalInfo, type Capture } from './read-additional-info.ts'
import { dateTime, digits } from './grammar.ts'
import { isScalar, orderFieldsOf, scalarOf, type Fields } from './payload.ts'

/** What a callback states of an order. https://docs.fondy.eu, "Parameters of the callback" */
export interface Order {
  /** Our payment's id, unless the provider charges a subscription automatically. */
  readonly id: string
  readonly merchantId: string
  /** The provider's id of the charge. */
  readonly paymentId: string
  readonly status: string
  readonly operation: string
  readonly amount: bigint | undefined
  readonly currency: string | undefined
  /** Everything that was reversed so far, in minor units. */
  readonly reversed: bigint
  readonly parentId: string | undefined
  readonly verification: string | undefined
  /** Whether the money is ours, or only blocked. */
  readonly capture: Capture['state']
  readonly test: boolean | undefined
  /** Why it was declined: only in a reply, because a callback can name anything so. */
  readonly declineCode?: string
  readonly card: {
    readonly token: string | undefined
    readonly masked: string | undefined
    readonly brand: string | undefined
  }
}

export type OrderResult =
  | { readonly ok: true; readonly order: Order }
  | { readonly ok: false; readonly outcome: IgnoredOutcome }

/**
 * The parameters that are read as texts: nested values are for protocol 2.0 and are not among them.
 */
export const orderFields = [
  'amount',
  'card_type',
  'currency',
  'masked_card',
  'merchant_id',
  'order_id',
  'order_status',
  'order_time',
  'parent_order_id',
  'payment_id',
  'rectoken',
  'response_status',
  'reversal_amount',
  'tran_type',
  'verification_status',
] as const

type Texts = Readonly<Partial<Record<(typeof orderFields)[number], string>>>

export function readOrder(payload: Payload): OrderResult {
  if (payload.kind === 'unreadable') return refused(ignored('unreadable_payload', payload.reason))
  const fields = orderFieldsOf(payload)
  return fields === undefined ? malformed('body') : readFields(fields)
}

/** The same for the order in a reply, whose names can be trusted. */
export function readOrderIn(fields: Fields): OrderResult {
  const read = readFields(fields)
  const declineCode = scalarOf(fields.get('response_code'))?.match(digits)?.[0]
  if (!read.ok || declineCode === undefined) return read
  return { ok: true, order: { ...read.order, declineCode } }
}

/** The same for the fields around the order in a callback or an API reply. */
function readFields(fields: Fields): OrderResult {
  const nested = orderFields.find((name) => !isScalar(fields.get(name)))
  if (nested !== undefined) return malformed(nested)
  const texts: Texts = Object.fromEntries(
    orderFields.map((name) => [name, scalarOf(fields.get(name))]),
  )
  if (texts.response_status === 'failure') return requestFailed(fields)
  const info = readAdditionalInfo(fields.get('additional_info'))
  return info === undefined ? malformed('additional_info') : toOrder(texts, info)
}

/** Of unpaid orders. One without an attempt to pay may have fewer fields than the others. */
const unpaid: ReadonlySet<string | undefined> = new Set([
  'created',
  'processing',
  'declined',
  'expired',
])

/** All of them come with every callback; one that lacks any decides nothing. */
function toOrder(texts: Texts, info: JsonObject): OrderResult {
  const read = toWholeOrder(texts, info)
  if (read.ok || !unpaid.has(texts.order_status)) return read
  return refused({ ...read.outcome, money: false })
}

function toWholeOrder(texts: Texts, info: JsonObject): OrderResult {
  const { order_id: id, order_status: status, tran_type: operation } = texts
  const merchantId = texts.merchant_id?.match(digits)?.[0]
  const paymentId = texts.payment_id?.match(digits)?.[0]
  const time = texts.order_time?.match(dateTime)?.[0]
  const reversed = parseMinorUnits(texts.reversal_amount)
  if (texts.response_status !== 'success') return malformed('response_status')
  if (merchantId === undefined) return malformed('merchant_id')
  if (id === undefined) return malformed('order_id')
  if (status === undefined) return malformed('order_status')
  if (time === undefined) return malformed('order_time')
  if (paymentId === undefined) return malformed('payment_id')
  if (operation === undefined) return malformed('tran_type')
  if (reversed === undefined) return malformed('reversal_amount')
  const capture = captureOf(info)
  const order = {
    id,
    merchantId,
    paymentId,
    status,
    operation,
    reversed,
    ...moneyOf(texts, capture.amount),
    parentId: texts.parent_order_id,
    verification: texts.verification_status,
    capture: capture.state,
    test: isTest(info),
    card: { token: texts.rectoken, masked: texts.masked_card, brand: texts.card_type },
  }
  return { ok: true, order }
}

/**
 * The order's amount is what was paid, unless a part of it was captured. It is not documented in
 * which unit that part is stated, so a part other than the whole leaves the amount open and settles
 * nothing.
 */
function moneyOf(texts: Texts, captured: string | undefined): Pick<Order, 'amount' | 'currency'> {
  const currency = findCurrency(texts.currency)?.code
  const amount = parseMinorUnits(texts.amount)
  if (captured === undefined) return { amount, currency }
  const readings = [parseMinorUnits(captured), parseMajorUnits(captured, currency)]
  return { amount: readings.includes(amount) ? amount : undefined, currency }
}

function requestFailed(fields: Fields): OrderResult {
  const code = scalarOf(fields.get('error_code')) ?? 'missing'
  return refused(ignored('no_outcome', detail(`response_status failure, error_code ${code}`)))
}

function malformed(field: string): OrderResult {
  return refused(ignored('malformed_payload', field))
}

function refused(outcome: IgnoredOutcome): OrderResult {
  return { ok: false, outcome }
}
