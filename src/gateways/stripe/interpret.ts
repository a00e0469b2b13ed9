import { ignored, type Outcome } from '../../payments/outcome.ts'
import type { Payload } from '../body/payload.ts'
import { detail } from '../detail.ts'
import type { InterpretContext } from '../interpret-context.ts'
import { apiVersion, openLookUps, type LookUps } from './api.ts'
import { isJsonObject } from '../body/json.ts'
import { readDispute } from './read-dispute.ts'
import { intentCanceled, intentFailed, intentSucceeded } from './read-intent.ts'
import { documentAlone, documentOf } from './read-document.ts'
import { invoiceFailed, invoicePaid, invoiceSubscription } from './read-invoice.ts'
import { readEvent, type StripeEvent } from './payload.ts'
import { methodAttached, methodDetached } from './read-payment-method.ts'
import { chargeRefunded, readRefund } from './read-refund.ts'
import { subscriptionChanged, subscriptionNotice } from './read-subscription.ts'
import {
  begunSubscription,
  sessionCompleted,
  sessionExpired,
  sessionFailed,
  sessionPaid,
} from './read-session.ts'
import { setupSucceeded } from './read-setup-intent.ts'

/**
 * What a Stripe event states about payments, refunds, saved cards, disputes and documents, and that
 * a subscription has changed. Throws only if a look-up fails that is needed to find what the event
 * is about: then it is retried.
 */
export async function interpretStripe(
  payload: Payload,
  context: InterpretContext,
): Promise<readonly Outcome[]> {
  const read = readEvent(payload)
  if (!read.ok) return [read.outcome]
  const { event } = read
  const handler = handlers.get(event.type)
  if (handler === undefined) return [ignored('unhandled_event', detail(event.type))]
  warnOfVersion(event, context)
  return handler(event, openLookUps(event, context))
}

/**
 * Read all the same: anything that another version words differently is Ignored with its reason.
 */
function warnOfVersion(event: StripeEvent, { log }: InterpretContext): void {
  if (event.apiVersion === undefined || event.apiVersion === apiVersion) return
  log.warn(
    { event: event.id, apiVersion: detail(event.apiVersion), expected: apiVersion },
    'the endpoint at Stripe has another API version than the one that is read here',
  )
}

type Handler = (event: StripeEvent, lookUps: LookUps) => Promise<readonly Outcome[]>

/** An event that needs no look-up. */
function alone(read: (event: StripeEvent) => Outcome): Handler {
  return (event) => Promise.resolve([read(event)])
}

const nothing = alone(({ type }) => ignored('no_outcome', type))

const onCompleted: Handler = async (event, lookUps) => [
  ...(await sessionCompleted(event, lookUps)),
  ...begunSubscription(event, lookUps),
]

const onInvoicePaid: Handler = (event) =>
  Promise.resolve([invoicePaid(event), ...documentOf(event)])

/** A try after the first leaves the subscription's status as it is: no other event tells of it. */
const onInvoiceFailed: Handler = async (event, lookUps) => [
  ...(await invoiceFailed(event, lookUps)),
  ...documentOf(event),
  ...subscriptionOfInvoice(event, lookUps),
]

/** Nothing has failed, but its subscription needs the payer. */
const onInvoiceWaiting: Handler = (event, lookUps) => {
  const changed = subscriptionOfInvoice(event, lookUps)
  return changed.length > 0 ? Promise.resolve(changed) : nothing(event, lookUps)
}

const onDocument: Handler = (event) => Promise.resolve(documentAlone(event))

const onSubscription: Handler = (event, lookUps) =>
  Promise.resolve(subscriptionChanged(event, lookUps))

function subscriptionOfInvoice(event: StripeEvent, lookUps: LookUps): readonly Outcome[] {
  const { object } = event
  if (!isJsonObject(object) || object.get('object') !== 'invoice') return []
  return subscriptionNotice(event, invoiceSubscription(object).subscriptionReference, lookUps)
}

// A Map: an event type is the sender's text and must not reach a prototype.
const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['checkout.session.completed', onCompleted],
  ['checkout.session.async_payment_succeeded', sessionPaid],
  ['checkout.session.async_payment_failed', alone(sessionFailed)],
  ['checkout.session.expired', alone(sessionExpired)],
  ['payment_intent.succeeded', alone(intentSucceeded)],
  ['payment_intent.payment_failed', alone(intentFailed)],
  ['payment_intent.canceled', alone(intentCanceled)],
  ['payment_intent.processing', nothing],
  ['payment_intent.requires_action', nothing],
  ['payment_intent.amount_capturable_updated', nothing],
  ['refund.created', readRefund],
  ['refund.updated', readRefund],
  ['refund.failed', readRefund],
  ['charge.refund.updated', readRefund],
  ['charge.refunded', chargeRefunded],
  ['charge.dispute.created', readDispute],
  ['charge.dispute.updated', readDispute],
  ['charge.dispute.funds_withdrawn', readDispute],
  ['charge.dispute.funds_reinstated', readDispute],
  ['charge.dispute.closed', readDispute],
  ['setup_intent.succeeded', setupSucceeded],
  ['setup_intent.requires_action', nothing],
  ['setup_intent.setup_failed', nothing],
  ['payment_method.attached', methodAttached],
  ['payment_method.detached', alone(methodDetached)],
  ['payment_method.automatically_updated', nothing],
  ['invoice.finalized', onDocument],
  ['invoice.paid', onInvoicePaid],
  ['invoice.payment_failed', onInvoiceFailed],
  ['invoice.payment_action_required', onInvoiceWaiting],
  // For some invoices it repeats what `invoice.paid` says for all.
  ['invoice.payment_succeeded', nothing],
  ['invoice.voided', onDocument],
  ['invoice.marked_uncollectible', onDocument],
  ['invoice_payment.paid', nothing],
  ['customer.subscription.created', onSubscription],
  ['customer.subscription.updated', onSubscription],
  ['customer.subscription.deleted', onSubscription],
  ['customer.subscription.paused', onSubscription],
  ['customer.subscription.resumed', onSubscription],
  ['customer.subscription.trial_will_end', onSubscription],
  ['customer.subscription.pending_update_applied', onSubscription],
  ['customer.subscription.pending_update_expired', onSubscription],
])

/** The types of the events that we use: what Stripe is to send to the endpoint. */
export const handledEvents: readonly string[] = [...handlers]
  .filter(([, handler]) => handler !== nothing)
  .map(([type]) => type)
