import { seconds } from '../../kernel/duration.ts'
import { QuittanceError } from '../../kernel/errors.ts'
import { readUuid } from '../../kernel/uuid.ts'
import { within } from '../../kernel/within.ts'
import {
  ignored,
  type AboutMoney,
  type Outcome,
  type PaymentOutcome,
} from '../../payments/outcome.ts'
import { isJsonObject, path, textOf, type JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import type { PaddleApi } from './api.ts'
import {
  claimIn,
  isCharged,
  isId,
  readEntity,
  refused,
  shownField,
  timeSpanOf,
  totalOf,
  type EntityResult,
  type PaddleEvent,
  type StatedMoney,
} from './payload.ts'

interface Transaction {
  readonly id: string
  readonly entity: JsonObject
  /** Undefined without an API key. */
  readonly api: PaddleApi | undefined
}

/**
 * What a transaction states of the payment for which it was fetched, or else of the one that it
 * names. https://developer.paddle.com/api-reference/transactions/overview
 */
export async function readTransaction(
  event: PaddleEvent,
  api: PaddleApi | undefined,
  fetchedFor?: string,
): Promise<Outcome> {
  const read = readEntity(event, 'txn_')
  if (!read.ok) return read.outcome
  const { entity, id } = read
  const origin = origins.get(textOf(entity.get('origin')) ?? '')
  if (origin === undefined && fetchedFor === undefined) {
    const text = detail(`${event.type}, ${shownField(entity, 'origin')}`)
    return ignored('unhandled_event', text, saysPaid(event) ? extraCharge(entity) : {})
  }
  const meaning = meaningOf(event.type, entity)
  if (typeof meaning !== 'string') {
    return ignored('no_outcome', meaning.undecided, saysPaid(event) ? odd(id, entity) : {})
  }
  const transaction = { id, entity, api }
  const named =
    fetchedFor === undefined
      ? await nameOf(transaction, origin)
      : nameOfFetched(entity, { paymentId: fetchedFor, origin })
  if ('outcome' in named) return named.outcome
  return {
    type: 'payment',
    status: meaning,
    payment: { checkoutReference: id },
    ...named,
    ...(await moneyOf(transaction)),
    ...(await paidPeriod(transaction, meaning)),
    checkoutReference: id,
  }
}

/** What it is charged for, if that is a period of a subscription. */
function periodOf(entity: JsonObject): Pick<PaymentOutcome, 'period'> {
  const period = timeSpanOf(entity.get('billing_period'))
  return period === undefined ? {} : { period }
}

/**
 * A checkout that begins a subscription is paid before it is said for which time, and the event may
 * come when that time is over. If it is not known now either, it begins now.
 */
async function paidPeriod(
  { id, entity, api }: Transaction,
  meaning: PaymentOutcome['status'],
): Promise<Pick<PaymentOutcome, 'period'>> {
  const stated = periodOf(entity)
  const isUnknown = stated.period === undefined && meaning === 'paid' && isRecurring(entity)
  if (!isUnknown || api === undefined) return stated
  try {
    const fetched = await within(lookUpLimit, late, () => api.get('transactions', id))
    return fetched === undefined ? stated : periodOf(fetched)
  } catch {
    return stated
  }
}

function isRecurring(entity: JsonObject): boolean {
  const items = entity.get('items')
  const all = Array.isArray(items) ? items : []
  return all.some((item) => isJsonObject(path(item, 'price', 'billing_cycle')))
}

/** The event that reported a transaction in this state. */
export function eventTypeOf(transaction: JsonObject): string {
  const status = textOf(transaction.get('status'))
  const isEnd = isCharged(transaction) || status === 'canceled'
  return isEnd ? `transaction.${status}` : 'transaction.payment_failed'
}

/**
 * A subscription's extra charges, prorations and card changes also carry the custom data of its
 * first payment; none of them is that payment, or a renewal.
 */
const origins: ReadonlyMap<string, 'checkout' | 'renewal'> = new Map([
  ['web', 'checkout'],
  ['api', 'checkout'],
  ['subscription_recurring', 'renewal'],
])

function saysPaid({ type }: PaddleEvent): boolean {
  return /\.(?:paid|completed)$/.test(type)
}

/** It says in unknown words that money was taken: ours, if the transaction is. */
function odd(id: string, entity: JsonObject): AboutMoney {
  const claimed = claimIn(entity)
  return { money: true, payment: { checkoutReference: id }, ...(claimed && { claimed }) }
}

/** What a subscription is charged between its periods: ours, if it began with our payment. */
function extraCharge(entity: JsonObject): AboutMoney {
  const id = readUuid(path(entity, 'custom_data', 'payment_id'))
  const { amount } = totalOf(path(entity, 'details', 'totals'))
  return id !== undefined && amount !== 0n ? { money: true, payment: { id } } : {}
}

/** The status that the transaction means; `undecided` names the field that leaves it open. */
type Meaning = PaymentOutcome['status'] | { readonly undecided: string }

/** They tell of an attempt; the other events of the transaction's end. */
const attemptEvents: ReadonlySet<string> = new Set([
  'transaction.payment_failed',
  'transaction.past_due',
])

/** The event and the entity must agree: either alone settles nothing. */
function meaningOf(type: string, entity: JsonObject): Meaning {
  if (attemptEvents.has(type)) return meaningOfAttempt(entity)
  const undecided = { undecided: shownField(entity, 'status') }
  if (type !== 'transaction.canceled') return isCharged(entity) ? 'paid' : undecided
  return entity.get('status') === 'canceled' ? 'canceled' : undecided
}

/** The newest attempt comes first; one that waits for 3-D Secure has not failed. */
function meaningOfAttempt(entity: JsonObject): Meaning {
  const payments = entity.get('payments')
  const newest = Array.isArray(payments) ? payments[0] : undefined
  if (!isJsonObject(newest)) return { undecided: 'payments missing' }
  return newest.get('status') === 'error'
    ? 'failed'
    : { undecided: `payments[0].${shownField(newest, 'status')}` }
}

/** What names a payment besides the transaction's id, which we know from the checkout. */
type PaymentName = Partial<
  Pick<PaymentOutcome, 'payment' | 'claimed' | 'renews' | 'subscriptionReference' | 'unanswered'>
>
type Origin = 'checkout' | 'renewal' | undefined
type Unnamed = Extract<EntityResult, { ok: false }>

function nameOf(
  transaction: Transaction,
  origin: Origin,
): PaymentName | Promise<PaymentName | Unnamed> {
  return origin === 'renewal' ? nameOfRenewal(transaction) : nameOfCheckout(transaction.entity)
}

/** It belongs to this payment by its id, whatever its custom data say by now. */
function nameOfFetched(
  entity: JsonObject,
  { paymentId, origin }: { readonly paymentId: string; readonly origin: Origin },
): PaymentName {
  const payment = { id: paymentId }
  const named = origin === undefined ? {} : subscriptionOf(entity)
  const isRenewal = origin === 'renewal' && named.subscriptionReference !== undefined
  return { payment, ...named, ...(isRenewal && { renews: 'subscription' }) }
}

function nameOfCheckout(entity: JsonObject): PaymentName {
  const claimed = claimIn(entity)
  return { ...(claimed !== undefined && { claimed }), ...subscriptionOf(entity) }
}

/** The subscription that it belongs to: a checkout begins it, and its renewals are known by it. */
function subscriptionOf(entity: JsonObject): Pick<PaymentName, 'subscriptionReference'> {
  const subscriptionReference = entity.get('subscription_id')
  return isId(subscriptionReference, 'sub_') ? { subscriptionReference } : {}
}

/** The first payment is known by its subscription; if not, by what the renewal claims. */
async function nameOfRenewal(transaction: Transaction): Promise<PaymentName | Unnamed> {
  const { entity, api } = transaction
  const subscriptionReference = entity.get('subscription_id')
  if (!isId(subscriptionReference, 'sub_')) {
    return refused(ignored('malformed_payload', 'data.subscription_id'))
  }
  const named = { renews: 'subscription', subscriptionReference } as const
  const own = claimIn(entity)
  if (own !== undefined || api === undefined) return { ...named, ...(own && { claimed: own }) }
  return { ...named, ...(await claimOfSubscription(subscriptionReference, api)) }
}

/** Less than an interpretation may take: a known renewal does not wait for the look-up. */
const lookUpLimit = seconds(8)
const late = () => new QuittanceError('provider_unreachable', 'Paddle did not answer in time')

/**
 * What its subscription carries, for a renewal that carries nothing; not needed if the renewal is
 * known.
 */
async function claimOfSubscription(
  id: string,
  api: PaddleApi,
): Promise<Pick<PaymentName, 'claimed' | 'unanswered'>> {
  try {
    const subscription = await within(lookUpLimit, late, () => api.get('subscriptions', id))
    const claimed = subscription && claimIn(subscription)
    return claimed === undefined ? {} : { claimed }
  } catch (error) {
    return { unanswered: error }
  }
}

/** An event may lack totals; only then is the transaction fetched again. */
async function moneyOf({ id, entity, api }: Transaction): Promise<StatedMoney> {
  const stated = totalOf(path(entity, 'details', 'totals'))
  const isWhole = stated.amount !== undefined && stated.currency !== undefined
  if (isWhole || api === undefined) return stated
  const fetched = await api.get('transactions', id)
  return fetched === undefined ? stated : totalOf(path(fetched, 'details', 'totals'))
}
