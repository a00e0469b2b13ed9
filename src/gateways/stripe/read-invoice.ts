import {
  firstPaymentOf,
  ignored,
  type AboutMoney,
  type Outcome,
  type PaymentOutcome,
} from '../../payments/outcome.ts'
import { path, type JsonObject, type JsonValue } from '../body/json.ts'
import { detail } from '../detail.ts'
import type { LookUps, StripeApi } from './api.ts'
import { lastErrorOf, withCode } from './declines.ts'
import { amountOf, moneyOf, shownField, timeIn } from './fields.ts'
import { accountStatement, isId, readObject, subscriptionOf, type Snapshot } from './payload.ts'
import { periodOf } from './read-lines.ts'
import { invoiceReference, noReference, type ReferenceResult } from './reference.ts'

/** https://docs.stripe.com/api/invoices/object */
export function invoicePaid(snapshot: Snapshot): Outcome {
  const outcome = invoiceOutcome(snapshot, 'paid', 'amount_paid')
  if (outcome.type === 'ignored') return outcome.ignored
  const { invoice, payment } = outcome
  if (invoice.get('status') !== 'paid') {
    return undecided(invoice, { money: true, payment: firstPaymentOf(payment) })
  }
  return amountOf(invoice, 'amount_paid') === 0n ? paidWithNothing(invoice, payment) : payment
}

/**
 * A trial begins with an invoice over nothing. What credit of the customer's has paid for is a
 * period all the same; as our payment's own money it has not come in.
 * https://docs.stripe.com/billing/customer/balance
 */
function paidWithNothing(invoice: JsonObject, payment: PaymentOutcome): Outcome {
  const total = amountOf(invoice, 'total') ?? 0n
  if (total > 0n && payment.renews !== undefined) return payment
  const about = total > 0n ? { money: true, payment: payment.payment } : {}
  return ignored('no_outcome', 'amount_paid 0', about)
}

/**
 * Stripe also sends this for a payment that waits for its payer to confirm it, which is no failure.
 * A first payment counts as failed if that cannot be looked up: it can still become paid.
 */
export async function invoiceFailed(
  snapshot: Snapshot,
  { api, noKey }: LookUps,
): Promise<readonly Outcome[]> {
  const outcome = invoiceOutcome(snapshot, 'failed', 'amount_due')
  if (outcome.type === 'ignored') return [outcome.ignored]
  const { invoice, id, payment } = outcome
  if (invoice.get('status') !== 'open') return [undecided(invoice)]
  if (api === undefined) {
    return [payment.renews === undefined ? payment : ignored('no_outcome', `intent: ${noKey}`)]
  }
  const { waiting, error } = await lastTry(invoice, id, api)
  if (waiting === undefined) return [withCode(payment, error)]
  return [ignored('no_outcome', detail(`payment_intent ${shownField(waiting, 'status')}`))]
}

type InvoiceOutcome =
  | { readonly type: 'ignored'; readonly ignored: Outcome }
  | {
      readonly type: 'payment'
      readonly invoice: JsonObject
      readonly id: string
      readonly payment: PaymentOutcome
    }

/**
 * The first invoice of a subscription pays our payment; each following one is a payment of its own.
 * The charge is known by the invoice's id, because several intents may pay one invoice.
 */
function invoiceOutcome(
  snapshot: Snapshot,
  status: PaymentOutcome['status'],
  amountField: string,
): InvoiceOutcome {
  const read = readObject(snapshot, 'invoice', 'in_')
  if ('malformed' in read) return refused(ignored('malformed_payload', read.malformed))
  const { object: invoice, id } = read
  const named = nameOf(invoice, id)
  if (named === undefined) {
    const what = `${snapshot.type}, ${shownField(invoice, 'billing_reason')}`
    return refused(ignored('unhandled_event', detail(what), paidFor(invoice, status)))
  }
  if ('outcome' in named) return refused(named.outcome)
  const period = periodOf(invoice)
  const payment: PaymentOutcome = {
    type: 'payment',
    status,
    ...named,
    ...moneyOf(invoice, amountField),
    ...accountStatement(snapshot),
    providerReference: id,
    ...(period === undefined ? madeAt(invoice) : { period }),
  }
  return { type: 'payment', invoice, id, payment }
}

/** Stripe makes it when its period begins. */
function madeAt(invoice: JsonObject): Pick<PaymentOutcome, 'chargedAt'> {
  const chargedAt = timeIn(invoice.get('created'))
  return chargedAt === undefined ? {} : { chargedAt }
}

type PaymentName = Pick<PaymentOutcome, 'payment' | 'renews' | 'subscriptionReference'>
type Unnamed = Extract<ReferenceResult, { ok: false }>

/**
 * As which payment an invoice is known; undefined if it is for no period. One that ends a trial
 * early, resumes a subscription or begins its periods anew is a period's as well: it lists one.
 */
export function nameOf(invoice: JsonObject, id: string): PaymentName | Unnamed | undefined {
  const reason = invoice.get('billing_reason')
  if (reason === 'subscription_create') return nameOfFirst(invoice)
  const isRenewal =
    reason === 'subscription_cycle' ||
    (reason === 'subscription_update' && periodOf(invoice) !== undefined)
  return isRenewal ? nameOfRenewal(invoice, id) : undefined
}

function nameOfFirst(invoice: JsonObject): PaymentName | Unnamed {
  const reference = invoiceReference(invoice) ?? noReference
  if (!reference.ok) return reference
  return { payment: { id: reference.paymentId }, ...invoiceSubscription(invoice) }
}

/**
 * A subscription that began with a Payment Link carries no id of ours: only its own id is known.
 */
function nameOfRenewal(invoice: JsonObject, id: string): PaymentName | Unnamed {
  const reference = invoiceReference(invoice)
  if (reference?.ok === false) return reference
  const subscription = invoiceSubscription(invoice)
  const isKnown = reference !== undefined || subscription.subscriptionReference !== undefined
  if (!isKnown) return noReference
  const renews = reference === undefined ? 'subscription' : { id: reference.paymentId }
  return { payment: { providerReference: id }, renews, ...subscription }
}

/** In every layout that Stripe has had. */
export function invoiceSubscription(
  invoice: JsonObject,
): Pick<PaymentName, 'subscriptionReference'> {
  const value = path(invoice, 'parent', 'subscription_details', 'subscription')
  return subscriptionOf(value ?? invoice.get('subscription'))
}

/** What a subscription is charged between its periods: ours, if it began with our payment. */
function paidFor(invoice: JsonObject, status: PaymentOutcome['status']): AboutMoney {
  const reference = invoiceReference(invoice)
  const isPaid = status === 'paid' && amountOf(invoice, 'amount_paid') !== 0n
  return isPaid && reference?.ok ? { money: true, payment: { id: reference.paymentId } } : {}
}

const failedStatuses: ReadonlySet<unknown> = new Set(['requires_payment_method', 'canceled'])

/** The intents that have paid an invoice; undefined if some of it was paid in another way. */
export async function payingIntents(
  id: string,
  api: StripeApi,
): Promise<readonly string[] | undefined> {
  const payments = await api.list('v1/invoice_payments', { invoice: id, status: 'paid' })
  const intents = payments.map((payment) => path(payment, 'payment', 'payment_intent'))
  return intents.every((intent) => isId(intent, 'pi_')) ? intents : undefined
}

/** How the last try to pay an open invoice stands. */
export interface LastTry {
  /** The intent that may still succeed without a new try. */
  readonly waiting: JsonObject | undefined
  /** Why the last one failed, if none waits. */
  readonly error: JsonValue
}

export async function lastTry(
  invoice: JsonObject,
  id: string,
  api: Pick<StripeApi, 'get' | 'list'>,
): Promise<LastTry> {
  let error: JsonValue = null
  for (const intentId of await openIntents(invoice, id, api)) {
    const intent = await api.get(`v1/payment_intents/${intentId}`)
    if (intent === undefined) continue
    if (!failedStatuses.has(intent.get('status'))) return { waiting: intent, error: null }
    error = lastErrorOf(intent)
  }
  return { waiting: undefined, error }
}

/** Before 2025-03-31 the invoice itself named its only intent. */
async function openIntents(
  invoice: JsonObject,
  id: string,
  api: Pick<StripeApi, 'list'>,
): Promise<readonly string[]> {
  const named = invoice.get('payment_intent')
  if (isId(named, 'pi_')) return [named]
  const payments = await api.list('v1/invoice_payments', { invoice: id })
  return payments
    .filter((payment) => payment.get('status') === 'open')
    .map((payment) => path(payment, 'payment', 'payment_intent'))
    .filter((intent) => isId(intent, 'pi_'))
}

function undecided(invoice: JsonObject, about: AboutMoney = {}): Outcome {
  return ignored('no_outcome', detail(`invoice ${shownField(invoice, 'status')}`), about)
}

function refused(outcome: Outcome): InvoiceOutcome {
  return { type: 'ignored', ignored: outcome }
}
