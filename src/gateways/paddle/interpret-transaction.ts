import { ignored, type Outcome, type PaymentOutcome } from '../../payments/outcome.ts'
import { isJsonObject, path, textOf, type JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import type { PaddleApi } from './api.ts'
import {
  isId,
  readEntity,
  readReference,
  refused,
  shownField,
  totalOf,
  type PaddleEvent,
  type ReferenceResult,
  type StatedMoney,
} from './payload.ts'

interface Transaction {
  readonly id: string
  readonly entity: JsonObject
  /** Undefined without an API key. */
  readonly api: PaddleApi | undefined
}

/**
 * What a transaction states of the payment that it was fetched for, or else of the one that it
 * names. https://developer.paddle.com/api-reference/transactions/overview
 */
export async function interpretTransaction(
  event: PaddleEvent,
  api: PaddleApi | undefined,
  fetchedFor?: string,
): Promise<Outcome> {
  const read = readEntity(event, 'txn_')
  if (!read.ok) return read.outcome
  const { entity, id } = read
  const origin = origins.get(textOf(entity.get('origin')) ?? '')
  if (origin === undefined && fetchedFor === undefined) {
    return ignored('unhandled_event', detail(`${event.type}, ${shownField(entity, 'origin')}`))
  }
  const meaning = meaningOf(event.type, entity)
  if (typeof meaning !== 'string') return ignored('no_outcome', meaning.undecided)
  const transaction = { id, entity, api }
  const isRenewal = origin === 'renewal' && fetchedFor === undefined
  const reference = isRenewal
    ? await referenceOfRenewal(transaction)
    : referenceOfCheckout(entity, fetchedFor)
  if (!reference.ok) return reference.outcome
  const first = { id: reference.paymentId }
  return {
    type: 'payment',
    status: meaning,
    ...(isRenewal ? { payment: { checkoutReference: id }, renews: first } : { payment: first }),
    ...(await moneyOf(transaction)),
    checkoutReference: id,
  }
}

/**
 * A subscription's extra charges, prorations and card changes carry the custom data of its first
 * payment as well; none of them is that payment, nor a renewal.
 */
const origins: ReadonlyMap<string, 'checkout' | 'renewal'> = new Map([
  ['web', 'checkout'],
  ['api', 'checkout'],
  ['subscription_recurring', 'renewal'],
])

/** The status that the transaction means; `undecided` says which field leaves it open. */
type Meaning = PaymentOutcome['status'] | { readonly undecided: string }

/** The event and the entity must agree: either alone settles nothing. */
function meaningOf(type: string, entity: JsonObject): Meaning {
  const status = textOf(entity.get('status'))
  if (type === 'transaction.payment_failed') return meaningOfAttempt(entity)
  if (type === 'transaction.canceled') {
    return status === 'canceled' ? 'canceled' : { undecided: shownField(entity, 'status') }
  }
  const isPaid = status === 'paid' || status === 'completed'
  return isPaid ? 'paid' : { undecided: shownField(entity, 'status') }
}

/** The attempts come newest first; one that waits for 3-D Secure has not failed. */
function meaningOfAttempt(entity: JsonObject): Meaning {
  const payments = entity.get('payments')
  const newest = Array.isArray(payments) ? payments[0] : undefined
  if (!isJsonObject(newest)) return { undecided: 'payments missing' }
  return newest.get('status') === 'error'
    ? 'failed'
    : { undecided: `payments[0].${shownField(newest, 'status')}` }
}

function referenceOfCheckout(entity: JsonObject, fetchedFor?: string): ReferenceResult {
  if (fetchedFor !== undefined) return { ok: true, paymentId: fetchedFor }
  return readReference(entity) ?? refused(ignored('no_outcome', 'no payment reference'))
}

/** A renewal's own custom data, else its subscription's, which began as the first payment's. */
async function referenceOfRenewal({ entity, api }: Transaction): Promise<ReferenceResult> {
  const own = readReference(entity)
  if (own !== undefined) return own
  const subscriptionId = entity.get('subscription_id')
  if (!isId(subscriptionId, 'sub_')) {
    return refused(ignored('malformed_payload', 'data.subscription_id'))
  }
  if (api === undefined) {
    const missing = 'no payment reference, and PADDLE_API_KEY is not set'
    return refused(ignored('no_outcome', missing))
  }
  const subscription = await api.get('subscriptions', subscriptionId)
  return referenceOfCheckout(subscription ?? new Map())
}

/** An event may lack totals; only then is the transaction read again. */
async function moneyOf({ id, entity, api }: Transaction): Promise<StatedMoney> {
  const stated = totalOf(path(entity, 'details', 'totals'))
  const isWhole = stated.amount !== undefined && stated.currency !== undefined
  if (isWhole || api === undefined) return stated
  const fetched = await api.get('transactions', id)
  return fetched === undefined ? stated : totalOf(path(fetched, 'details', 'totals'))
}
