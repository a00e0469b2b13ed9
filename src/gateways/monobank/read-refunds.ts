import { createHash } from 'node:crypto'
import { readUuid } from '../../kernel/uuid.ts'
import {
  ignored,
  type IgnoredOutcome,
  type Outcome,
  type SingleRefundOutcome,
} from '../../payments/outcome.ts'
import { isJsonObject, textOf, type JsonObject, type JsonValue } from '../body/json.ts'
import { detail } from '../detail.ts'
import { amountOf, currencyOf, type Invoice } from './payload.ts'

/**
 * The refunds of an invoice. A reversed invoice without any is refunded as a whole, in a report
 * that names no refund. It is reported as a total, so that it adds nothing to refunds that are
 * already known.
 */
export function refundOutcomes(invoice: Invoice): readonly Outcome[] {
  const found = listOf(invoice).map((item) => readCancellation(item, invoice))
  const faults = found.filter((one) => 'type' in one)
  const cancellations = found.filter((one): one is Cancellation => !('type' in one))
  const refunds = toOutcomes(cancellations, invoice)
  const missing =
    invoice.status === 'reversed' && refunds.every(({ status }) => status === 'failed')
  return [...refunds, ...(missing ? [wholeRefund(invoice)] : []), ...faults]
}

function listOf({ body }: Invoice): readonly (JsonValue | undefined)[] {
  const list = body.get('cancelList') ?? []
  return Array.isArray(list) ? list : [undefined]
}

/** An entry of `cancelList`. */
interface Cancellation {
  readonly status: SingleRefundOutcome['status']
  readonly amount: bigint
  readonly currency: string | undefined
  readonly createdDate: string
  /** The merchant's own reference of the refund: an echo, in any spelling. */
  readonly extRef: string | undefined
  /** The bank's number of the transaction. */
  readonly rrn: string
}

type RefundStatus = 'paid' | 'pending' | 'failed'

const statuses: ReadonlyMap<string, RefundStatus> = new Map([
  ['success', 'paid'],
  ['processing', 'pending'],
  ['failure', 'failed'],
])

/** What a status of a refund means, in an invoice's list and in the reply to our request. */
export function refundStatusOf(text: string): RefundStatus | undefined {
  return statuses.get(text)
}

function readCancellation(
  item: JsonValue | undefined,
  invoice: Invoice,
): Cancellation | IgnoredOutcome {
  if (!isJsonObject(item)) return malformed('cancelList')
  const text = textOf(item.get('status'))
  if (text === undefined) return malformed('cancelList.status')
  const status = refundStatusOf(text)
  if (status === undefined) {
    const about = { money: true, payment: { checkoutReference: invoice.id } }
    return ignored('unhandled_event', detail(`cancelList status ${text}`), about)
  }
  const amount = amountOf(item)
  if (amount === undefined) return malformed('cancelList.amount')
  const currency = item.has('ccy') ? currencyOf(item) : invoice.currency
  if (item.has('ccy') && currency === undefined) return malformed('cancelList.ccy')
  const createdDate = dateOf(item)
  const extRef = textOf(item.get('extRef')) || undefined
  if (extRef === undefined && createdDate === '') return malformed('cancelList.createdDate')
  const rrn = textOf(item.get('rrn')) ?? ''
  return { status, amount, currency, createdDate, extRef, rrn }
}

const dateGrammar = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** The time of creation if it is valid, else an empty text. */
function dateOf(item: JsonObject): string {
  const text = textOf(item.get('createdDate')) ?? ''
  return dateGrammar.test(text) ? text : ''
}

/**
 * It is not documented whether an `extRef` is unique: of several refunds with the same one the
 * oldest keeps the plain reference, even when a later report lists more of them.
 */
function toOutcomes(
  cancellations: readonly Cancellation[],
  invoice: Invoice,
): readonly SingleRefundOutcome[] {
  const taken = new Map<string, number>()
  return withoutRepeats(cancellations)
    .toSorted(inOrder)
    .map((cancellation) => toOutcome(cancellation, invoice, taken))
}

function toOutcome(
  cancellation: Cancellation,
  { id }: Invoice,
  taken: Map<string, number>,
): SingleRefundOutcome {
  const { status, amount, currency, extRef } = cancellation
  const refundId = readUuid(extRef)
  const plain = refundReferenceOf(id, nameOf(cancellation))
  const refundReference = firstFree(taken, plain, cancellation)
  taken.set(refundReference, 1)
  return {
    type: 'refund',
    payment: { checkoutReference: id },
    status,
    amount,
    ...(currency !== undefined && { currency }),
    refundReference,
    ...(refundId !== undefined && refundReference === plain && { refundId }),
  }
}

/** How we name a refund: by its invoice, and by what distinguishes it from the invoice's others. */
export function refundReferenceOf(invoiceId: string, name: string): string {
  return `${invoiceId}/${name}`
}

const plainText = /^[!-~]{1,100}$/

/** Its name among the refunds of its invoice; a text unfit for an index becomes a digest. */
function nameOf({ extRef, createdDate, amount }: Cancellation): string {
  if (extRef === undefined) return `${createdDate}/${amount}`
  const id = readUuid(extRef)
  if (id !== undefined) return id
  return plainText.test(extRef) ? extRef : createHash('sha256').update(extRef).digest('hex')
}

/** `taken`: how many have this name already; counting on from there keeps a long list quick. */
function firstFree(taken: Map<string, number>, plain: string, like: Cancellation): string {
  if (!taken.has(plain)) return plain
  const exact = `${plain}/${like.createdDate}/${like.amount}`
  let reference = exact
  let count = taken.get(exact) ?? 1
  for (; taken.has(reference); reference = `${exact}/${count}`) count += 1
  taken.set(exact, count)
  return reference
}

/** The same transaction listed twice is one refund; without its number this cannot be known. */
function withoutRepeats(cancellations: readonly Cancellation[]): readonly Cancellation[] {
  const seen = new Set<string>()
  return cancellations.filter((cancellation) => {
    const { rrn, status, amount, createdDate, extRef } = cancellation
    const identity = JSON.stringify([rrn, status, String(amount), createdDate, extRef ?? null])
    const isRepeat = rrn !== '' && seen.has(identity)
    seen.add(identity)
    return !isRepeat
  })
}

/** By content, so that the order of the list does not matter; the oldest first. */
function inOrder(a: Cancellation, b: Cancellation): number {
  const [first, second] = [sortKey(a), sortKey(b)]
  return first < second ? -1 : first > second ? 1 : 0
}

const statusOrder = [
  'paid',
  'pending',
  'failed',
  'canceled',
] as const satisfies readonly Cancellation['status'][]

function sortKey(cancellation: Cancellation): string {
  const { createdDate, amount, rrn, status, currency = '', extRef = '' } = cancellation
  const created = Date.parse(createdDate)
  const time = Number.isNaN(created) ? 'none' : new Date(created).toISOString()
  const units = String(amount).padStart(16, '0')
  const rest = [createdDate, currency, extRef]
  return JSON.stringify([time, units, rrn, statusOrder.indexOf(status), ...rest])
}

function wholeRefund({ id, amount, currency }: Invoice): Outcome {
  if (amount === undefined) return malformed('amount')
  return {
    type: 'refund',
    payment: { checkoutReference: id },
    status: 'paid',
    refundedTotal: amount,
    ...(currency !== undefined && { currency }),
  }
}

function malformed(field: string): IgnoredOutcome {
  return ignored('malformed_payload', field)
}
