import type { Kysely } from 'kysely'
import type { Transaction } from '../database/connect.ts'
import { addClaim } from '../database/dedup-claims.ts'
import { insertDeferredEvents } from '../database/deferred-events.ts'
import { deliveriesOf, insertFailedAttempt } from '../database/failed-attempts.ts'
import { findDispute } from '../database/disputes.ts'
import { isPassing } from '../database/failure.ts'
import { findPaymentMethod } from '../database/payment-methods.ts'
import { findPayment, lockPayments } from '../database/payments.ts'
import type { Tables } from '../database/tables.ts'
import type { EventType } from '../events/catalogue.ts'
import {
  disputeDedupKey,
  disputeIdIn,
  paymentDedupKey,
  paymentMethodDedupKey,
  refundDedupKey,
} from '../events/dedup-key.ts'
import { endpointEventType, readEndpointDisabled } from '../events/endpoint-event.ts'
import { isSubscriptionEventType, readEventData, type StoredData } from '../events/event-data.ts'
import type { Duration } from '../kernel/duration.ts'
import type { NewId } from '../kernel/ids.ts'
import { dispatchAlone, lostByListener } from '../listeners/dispatch-events.ts'
import { isListenerMissing } from '../listeners/listeners.ts'
import type { Dispatched } from '../listeners/run-listeners.ts'
import { subjectIds, type Claim } from '../outcomes/applied.ts'
import type { Cause, Payment } from '../payments/payment.ts'
import { deliveries, type LeasedDelivery } from '../queue/deliveries.ts'
import { finishRows } from '../queue/end-rows.ts'
import { isLeaseLost, leaseLost } from '../queue/leased-table.ts'
import { logReturned, releaseToOthers, returnAfter } from '../queue/return-after.ts'
import { mayReturn } from '../queue/retry.ts'
import { afterReport } from './after-commit.ts'
import type { ProcessingContext } from './context.ts'
import { invoiceSubjectOf } from './invoice-subject.ts'
import { loadSubjects } from './load-subjects.ts'
import { idsOfSubscriptionEvent, subscriptionSubjectOf } from './subscription-subject.ts'
import { failDelivery, noteFailedDelivery, returnIfPassing } from './fail-attempt.ts'

/** Why events are deferred, and until when. */
export interface Deferral {
  readonly cause: Cause
  readonly queue: string
  /** Attempts that have failed so far: 0 or 1. */
  readonly attempts: number
  readonly after: Duration
  readonly exception: string | null
  /** Of the attempt that has failed, if one has. */
  readonly failed?: { readonly newId: NewId; readonly listener: string | null }
}

/**
 * Defers events that no stored call will bring up again: a row of `deliveries` holds what a worker
 * needs to claim each of them later. One that is deferred already stays as it is.
 */
export async function deferEvents(
  db: Kysely<Tables>,
  claims: readonly Claim[],
  { failed, ...deferral }: Deferral,
): Promise<void> {
  const rows = claims.map(({ eventId, dedupKey, type, subject }) => {
    const { paymentId, paymentMethodId } = subjectIds(subject)
    const ids = { paymentId, paymentMethodId }
    return { id: eventId, dedupKey, type, ...ids, ...deferral, ofSubscription: null }
  })
  await insertDeferredEvents(db, rows)
  const { exception, attempts: attempt } = deferral
  if (failed === undefined || exception === null) return
  const { newId, listener } = failed
  // One that was deferred before has kept its id.
  const ids = await deliveriesOf(
    db,
    rows.map(({ dedupKey }) => dedupKey),
  )
  for (const deliveryId of ids) {
    const of = { deliveryId }
    await insertFailedAttempt(db, { id: newId(), of, attempt, listener, exception })
  }
}

/** A deferred event as it was leased. */
export type LeasedEvent = LeasedDelivery & {
  readonly dedup_key: string
  readonly event_type: string
  readonly cause: Cause
}

export function isDeferredEvent(delivery: LeasedDelivery): delivery is LeasedEvent {
  return delivery.dedup_key !== null
}

/** One of a subscription: what it says is stored with it. */
type SubscriptionEventRow = LeasedEvent & { readonly subscription_id: string }

function isOfSubscription(leased: LeasedEvent): leased is SubscriptionEventRow {
  return leased.subscription_id !== null
}

/** One of a document. */
type InvoiceEventRow = LeasedEvent & { readonly invoice_id: string }

function isOfInvoice(leased: LeasedEvent): leased is InvoiceEventRow {
  return leased.invoice_id !== null
}

function isOfEndpoint({ event_type: type }: LeasedEvent): boolean {
  return type === endpointEventType
}

/** What becomes of an event when its transaction commits. */
type EndedEvent =
  | { readonly kind: 'dispatched'; readonly claim: Claim; readonly dispatched: Dispatched }
  | { readonly kind: 'failed' | 'returned'; readonly error: unknown; readonly listener: string }

/** Claims the event and runs its listeners; retried like a call. Throws `leaseLost`. */
export async function dispatchDeferred(
  leased: LeasedEvent,
  context: ProcessingContext,
): Promise<void> {
  let ended: EndedEvent | undefined
  try {
    ended = await context.database.transaction((transaction) =>
      dispatchIn(transaction, leased, context),
    )
  } catch (error) {
    await afterRollback(leased, error, context)
    return
  }
  if (ended !== undefined) afterEvent(leased, ended, context)
}

function afterEvent(leased: LeasedEvent, ended: EndedEvent, context: ProcessingContext): void {
  if (ended.kind === 'failed') noteFailedDelivery(context, leased, ended)
  if (ended.kind === 'returned') {
    logReturned(context.log, deliveries, { row: leased, error: ended.error })
  }
  // The next one of the subscription, or the document, may have waited for it.
  if (leased.outbox) context.wake('subscription_events')
  if (ended.kind !== 'dispatched') return
  const { claim, dispatched } = ended
  const applied = { kind: 'claim', type: '', payment: undefined, review: false, claim } as const
  afterReport({ cause: leased.cause }, context, { applied: [applied], dispatched })
}

/** Undefined if the event is out of date. */
async function dispatchIn(
  transaction: Transaction,
  leased: LeasedEvent,
  context: ProcessingContext,
): Promise<EndedEvent | undefined> {
  const { db } = transaction
  const current = await subjectOf(db, leased, context)
  if (current === undefined) {
    await finish(db, leased)
    return undefined
  }
  const { event_type: type, dedup_key: dedupKey, cause, queue } = leased
  const claim = { eventId: leased.id, dedupKey, type: type as EventType, ...current }
  const { webhook_call_id: callId } = leased
  const source = { cause, callId, queue }
  const dispatched = await dispatchAlone(transaction, { source, claims: [claim] }, context)
  if (dispatched.kind === 'dispatched') {
    if (callId !== null && dispatched.events.length > 0) await addClaim(db, callId, dedupKey)
    await finish(db, leased)
    return { kind: 'dispatched', claim, dispatched }
  }
  const { error } = dispatched
  if (await returnIfPassing(db, deliveries, { leased, error, random: context.random })) {
    return { ...dispatched, kind: 'returned' }
  }
  const { newId, scrub } = context
  await failDelivery(db, leased, { ...dispatched, newId, scrub })
  return dispatched
}

async function subjectOf(
  db: Kysely<Tables>,
  leased: LeasedEvent,
  context: ProcessingContext,
): Promise<Pick<Claim, 'subject' | 'superseded' | 'data'> | undefined> {
  if (isOfInvoice(leased)) {
    const { event_type: type, invoice_id: invoiceId } = leased
    const subjects = await loadSubjects(db, [{ invoice: invoiceId }], context)
    return { subject: invoiceSubjectOf({ type, invoiceId }, subjects) }
  }
  if (isOfSubscription(leased)) return carried(db, leased, context)
  if (isOfEndpoint(leased)) {
    const data = JSON.parse(leased.data ?? '{}') as StoredData
    return { subject: readEndpointDisabled(data), data }
  }
  return currentSubject(db, leased)
}

/** Of an event of a subscription, as it stands; not locked, and not asked whether it still holds. */
async function carried(
  db: Kysely<Tables>,
  { event_type: type, subscription_id: subscriptionId, data: stored }: SubscriptionEventRow,
  context: ProcessingContext,
): Promise<Pick<Claim, 'subject' | 'data'>> {
  // Stryker disable next-line all: nothing else is taken
  if (!isSubscriptionEventType(type)) throw new Error(`${type} is no event of a subscription`)
  const data = JSON.parse(stored ?? '{}') as StoredData
  const event = { subscriptionId, planned: readEventData(type, data) }
  const subjects = await loadSubjects(db, [idsOfSubscriptionEvent(event)], context)
  return { subject: subscriptionSubjectOf(event, subjects, context), data }
}

/**
 * The event's subject, locked, if it still is what the event says; superseded, if it is a payment
 * that has been paid since. Undefined if it has moved on otherwise. Throws for a payment to which
 * nothing has happened that the event could say: none ever becomes pending again.
 */
async function currentSubject(
  db: Kysely<Tables>,
  {
    event_type: type,
    dedup_key: key,
    payment_id: paymentId,
    payment_method_id: methodId,
  }: LeasedEvent,
): Promise<Pick<Claim, 'subject' | 'superseded'> | undefined> {
  if (methodId !== null) {
    const paymentMethod = await findPaymentMethod(db, methodId)
    return paymentMethod && paymentMethodDedupKey(paymentMethod.status, paymentMethod) === key
      ? { subject: { paymentMethod } }
      : undefined
  }
  // Stryker disable next-line ConditionalExpression: a row without an id is not found either
  const known = paymentId === null ? undefined : await findPayment(db, paymentId)
  if (known === undefined) return undefined
  // A refund or a dispute is locked by its charge, like everything that is reported of it.
  await lockPayments(db, [known.parentId ?? known.id])
  const payment = await findPayment(db, known.id)
  // Stryker disable next-line ConditionalExpression: no payment is ever deleted
  if (payment === undefined) return undefined
  const disputeId = disputeIdIn(key)
  if (disputeId !== undefined) {
    const dispute = await findDispute(db, disputeId)
    return dispute && disputeDedupKey(dispute) === key
      ? { subject: { payment, dispute } }
      : undefined
  }
  if (keyOf(payment) === key || isOfBrowser(type)) return { subject: { payment } }
  if (payment.status === 'pending') throw new Error(`${key}: payment ${payment.id} is pending`)
  return isOvertaken(payment, key) ? { subject: { payment }, superseded: true } : undefined
}

/** What a payer did stays so, however the payment stands. */
function isOfBrowser(type: string): boolean {
  return type === 'CheckoutReturned' || type === 'PaymentLinkOpened'
}

/** The key of the event for its present status; a pending payment has none. */
function keyOf({ id, type, status }: Payment): string | undefined {
  // Stryker disable next-line ConditionalExpression,StringLiteral: nothing has the key that it gets
  if (status === 'pending') return undefined
  return type === 'refund' && status === 'paid' ? refundDedupKey(id) : paymentDedupKey(status, id)
}

/** Whether the key is of the decline or the end of a payment that is paid by now. */
function isOvertaken({ id, type, status }: Payment, key: string): boolean {
  const isPaid = type === 'charge' && status === 'paid'
  return isPaid && [paymentDedupKey('failed', id), paymentDedupKey('canceled', id)].includes(key)
}

async function finish(db: Kysely<Tables>, leased: LeasedEvent): Promise<void> {
  const [lost] = await finishRows(db, deliveries, { leases: [leased] })
  if (lost !== undefined) throw leaseLost(lost)
}

async function afterRollback(
  leased: LeasedEvent,
  error: unknown,
  context: ProcessingContext,
): Promise<void> {
  // Another worker has it: nothing is recorded here.
  if (isLeaseLost(error)) throw error
  if (isListenerMissing(error)) {
    await releaseToOthers({ ...context, error }, deliveries, [leased])
    return
  }
  if (isPassing(error) && mayReturn(leased)) {
    await returnAfter({ ...context, error }, deliveries, leased)
    return
  }
  const lost = lostByListener(error)
  const { newId, scrub } = context
  const failed = { error: lost?.error ?? error, newId, scrub }
  await context.database.transaction(({ db }) => failDelivery(db, leased, failed))
  if (leased.outbox) context.wake('subscription_events')
  noteFailedDelivery(context, leased, failed)
}
