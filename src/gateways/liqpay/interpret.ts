import { readUuid } from '../../kernel/uuid.ts'
import {
  ignored,
  type AboutMoney,
  type AccountStatement,
  type IgnoredOutcome,
  type Outcome,
  type PaymentOutcome,
} from '../../payments/outcome.ts'
import { numberTextOf } from '../body/json.ts'
import type { Payload } from '../body/payload.ts'
import { detail } from '../detail.ts'
import {
  amountOf,
  currencyOf,
  errorCodeOf,
  isSandboxKey,
  paymentIdOf,
  readCallback,
  type Callback,
} from './payload.ts'
import { readSavedCard } from './read-saved-card.ts'
import { awaitsDecision, awaitsPayer, wasTaken } from './statuses.ts'

/** What a LiqPay callback states about our payments. Sends no request; never throws. */
export function interpretLiqpay(payload: Payload): readonly Outcome[] {
  const read = readCallback(payload)
  return read.ok ? interpretCallback(read.callback) : [read.outcome]
}

/** The same for a callback or an API reply that has been read. */
export function interpretCallback(callback: Callback): readonly Outcome[] {
  const { status } = callback
  const waits = awaitsPayer.has(status) || awaitsDecision.has(status) || status === 'try_again'
  if (waits) return [ignored('no_outcome', status)]
  if (status === 'unsubscribed') return [ignored('unhandled_event', status)]
  const handler = handlers.get(status)
  return handler === undefined
    ? [ignored('unhandled_event', detail(status), odd(callback))]
    : handler(callback)
}

/** It is about money, in a word that we do not know: ours, if the order is. */
function odd({ fields }: Callback): AboutMoney {
  const id = readUuid(fields.get('order_id'))
  return id === undefined ? {} : { money: true, payment: { id } }
}

type Handler = (callback: Callback) => readonly Outcome[]

// A Map: a status is the sender's text and must not reach a prototype.
const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['success', onPaid],
  ['sandbox', onPaid],
  ['failure', onFailed],
  ['error', onFailed],
  ['reversed', onReversed],
  ['subscribed', onSubscribed],
])

function onPaid(callback: Callback): readonly Outcome[] {
  const cards = readSavedCard(callback.fields, accountOf(callback))
  const charge = readCharge(callback)
  if (!charge.ok)
    return callback.action === cardCheck ? [charge.outcome, ...cards] : [charge.outcome]
  const refunds = isRefunded(callback) ? [refundedTotal(callback, charge, 'refund_amount')] : []
  return [paymentOutcome(callback, charge, 'paid'), ...refunds, ...cards]
}

function onFailed(callback: Callback): readonly Outcome[] {
  const charge = readCharge(callback)
  if (!charge.ok) return [charge.outcome]
  const declineCode = errorCodeOf(callback.fields)
  const failed = paymentOutcome(callback, charge, 'failed')
  return [{ ...failed, ...(declineCode !== undefined && { declineCode }) }]
}

function onReversed(callback: Callback): readonly Outcome[] {
  const charge = readCharge(callback)
  if (!charge.ok) return [charge.outcome]
  if (callback.action === 'hold' && !wasDebited(callback)) {
    return [{ ...paymentOutcome(callback, charge, 'canceled'), ifPaid: 'review' }]
  }
  const states = (callback.fields.get('refund_amount') ?? null) !== null
  const refund = refundedTotal(callback, charge, states ? 'refund_amount' : 'amount')
  return refund.type === 'refund' ? [paidBefore(callback, charge), refund] : [refund]
}

/**
 * Refunded money had been taken, but the callback that reported it may be lost or late. It is not
 * documented whether that callback had the number of this one: only a renewal is known by it.
 */
function paidBefore(callback: Callback, charge: Charge): PaymentOutcome {
  const paid = paymentOutcome(callback, charge, 'paid')
  if (paid.renews !== undefined) return paid
  const { providerReference: _, ...unnumbered } = paid
  return unnumbered
}

/** A subscription was made; each of its charges has a callback of its own. */
function onSubscribed(callback: Callback): readonly Outcome[] {
  const cards = readSavedCard(callback.fields, accountOf(callback))
  return [ignored('unhandled_event', callback.status), ...cards]
}

/** The actions by which a payer pays an order. */
const payingActions: ReadonlySet<string> = new Set([
  'pay',
  'hold',
  'paysplit',
  'paydonate',
  'paytoken',
  'subscribe',
])
/** Asks the bank whether a card is good, and charges nothing. */
const cardCheck = 'auth'
/**
 * LiqPay charged a subscription automatically: under the first order's id, with a new `payment_id`.
 */
const renewal = 'regular'

interface Charge {
  readonly ok: true
  readonly orderId: string
  readonly paymentId: string
}

function readCharge(callback: Callback): Charge | { ok: false; outcome: IgnoredOutcome } {
  const { action, status, fields } = callback
  if (action === cardCheck) return refused(ignored('no_outcome', `${action} ${status}`))
  if (action !== renewal && !payingActions.has(action)) {
    const about = wasTaken.has(status) ? odd(callback) : {}
    return refused(ignored('unhandled_event', detail(action), about))
  }
  const named = fields.get('order_id')
  const isTaken = { money: wasTaken.has(status) }
  if (typeof named !== 'string') return refused(ignored('malformed_payload', 'order_id', isTaken))
  const orderId = readUuid(named)
  if (orderId === undefined) return refused(ignored('invalid_reference', detail(named)))
  const paymentId = paymentIdOf(callback)
  if (paymentId === undefined) {
    return refused(ignored('malformed_payload', 'payment_id', isTaken))
  }
  return { ok: true, orderId, paymentId }
}

/**
 * A renewal is known by its own id: its order is that of the first payment, which has been paid.
 */
function paymentOf({ action }: Callback, { orderId, paymentId }: Charge) {
  return action === renewal ? { providerReference: paymentId } : { id: orderId }
}

function paymentOutcome(
  callback: Callback,
  charge: Charge,
  status: PaymentOutcome['status'],
): PaymentOutcome {
  const amount = amountOf(callback, 'amount')
  const currency = currencyOf(callback)
  return {
    type: 'payment',
    payment: paymentOf(callback, charge),
    status,
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
    providerReference: charge.paymentId,
    ...(callback.action === renewal && { renews: { id: charge.orderId } }),
    ...accountOf(callback),
  }
}

/**
 * `refund_amount` counts as the sum of all refunds: if it were only the last, none would count
 * twice.
 */
function refundedTotal(
  callback: Callback,
  charge: Charge,
  field: 'amount' | 'refund_amount',
): Outcome {
  const currency = currencyOf(callback)
  if (currency === undefined) return ignored('malformed_payload', 'currency')
  const total = amountOf(callback, field)
  if (total === undefined || total === 0n) return ignored('malformed_payload', field)
  return {
    type: 'refund',
    payment: paymentOf(callback, charge),
    status: 'paid',
    refundedTotal: total,
    currency,
    ...accountOf(callback),
  }
}

/** A payment that stays paid may report a partial refund; 0 means that there was none. */
function isRefunded(callback: Callback): boolean {
  const stated = callback.fields.get('refund_amount') ?? null
  return stated !== null && amountOf(callback, 'refund_amount') !== 0n
}

const milliseconds = /^[1-9]\d*$/

/** When the blocked money was taken; a hold that was only released has no such date. */
function wasDebited({ fields }: Callback): boolean {
  return milliseconds.test(numberTextOf(fields.get('completion_date')) ?? '')
}

/** `sandbox` is test money under every key; otherwise the key shows the mode. */
function accountOf({ status, publicKey }: Callback): Required<AccountStatement> {
  return {
    merchantAccount: publicKey,
    live: status !== 'sandbox' && !isSandboxKey(publicKey),
  }
}

function refused(outcome: IgnoredOutcome) {
  return { ok: false, outcome } as const
}
