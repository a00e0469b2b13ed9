import type { Kysely } from 'kysely'
import { addClaim } from '../database/calls.ts'
import type { Transaction } from '../database/connect.ts'
import { idsOfDeferred, insertDeferredEvents } from '../database/deferred-events.ts'
import { insertFailedAttempt } from '../database/failed-attempts.ts'
import { isPassing } from '../database/failure.ts'
import { findPayment, lockPayments } from '../database/payments.ts'
import type { Tables } from '../database/tables.ts'
import type { EventType } from '../events/catalogue.ts'
import { standingOf, type LockedSubject } from '../events/dedup-key.ts'
import type { StoredData } from '../events/event-data.ts'
import type { Duration } from '../kernel/duration.ts'
import type { NewId } from '../kernel/ids.ts'
import { dispatchAlone, lostByListener } from '../listeners/dispatch-events.ts'
import { isListenerMissing } from '../listeners/listeners.ts'
import type { Dispatched } from '../listeners/run-listeners.ts'
import { subjectIds, type Claim, type Subject } from '../outcomes/applied.ts'
import type { Cause } from '../payments/payment.ts'
import { deferredEvents, type LeasedEvent } from '../queue/deferred-events.ts'
import { finishRows } from '../leases/queue-rows.ts'
import { isLeaseLost, leaseLost } from '../leases/leased-table.ts'
import { logReturned, releaseToOthers, returnAfter } from '../queue/return-after.ts'
import { mayReturn } from '../queue/retry.ts'
import { afterReport } from './after-commit.ts'
import type { ProcessingContext } from './context.ts'
import { aboutOf, carriedBy } from './event-subject.ts'
import { failDelivery, noteFailedDelivery, noteUnended, returnIfPassing } from './fail-attempt.ts'
import { loadSubjects } from './load-subjects.ts'

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
 * Defers events that no stored call will bring up again: a row holds what a worker needs to claim each
 * of them later. One that is deferred already stays as it is.
 */
export async function deferEvents(
  db: Kysely<Tables>,
  claims: readonly Claim[],
  { failed, ...deferral }: Deferral,
): Promise<void> {
  const rows = claims.map(({ eventId, dedupKey, type, subject, data }) => {
    const { paymentId, paymentMethodId } = subjectIds(subject)
    return { id: eventId, dedupKey, type, paymentId, paymentMethodId, data, ...deferral }
  })
  await insertDeferredEvents(db, rows)
  const { exception, attempts: attempt } = deferral
  if (failed === undefined || exception === null) return
  const { newId, listener } = failed
  // One that was deferred before has kept its id.
  const ids = await idsOfDeferred(
    db,
    rows.map(({ dedupKey }) => dedupKey),
  )
  for (const deliveryId of ids) {
    const of = { deliveryId }
    await insertFailedAttempt(db, { id: newId(), of, attempt, listener, exception })
  }
}

/** What becomes of an event when its transaction commits. */
type EndedEvent =
  | { readonly kind: 'dispatched'; readonly claim: Claim; readonly dispatched: Dispatched }
  | { readonly kind: 'failed' | 'returned'; readonly error: unknown; readonly listener: string }

/** Claims the event and runs its listeners; retried like a call. Never rejects. */
export async function dispatchDeferred(
  leased: LeasedEvent,
  context: ProcessingContext,
): Promise<void> {
  try {
    await dispatch(leased, context)
  } catch (error) {
    noteUnended(context, leased, error)
  }
}

async function dispatch(leased: LeasedEvent, context: ProcessingContext): Promise<void> {
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
    logReturned(context.log, deferredEvents, { row: leased, error: ended.error })
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
  const current = await currentSubject(db, leased, context)
  if (current === undefined) {
    await finish(db, leased)
    return undefined
  }
  const { dedup_key: dedupKey, cause, queue } = leased
  const type = leased.type as EventType
  const claim = { eventId: leased.id, dedupKey, type, ...current }
  const { webhook_call_id: callId } = leased
  const source = { cause, callId, queue }
  const dispatched = await dispatchAlone(transaction, { source, claims: [claim] }, context)
  if (dispatched.kind === 'dispatched') {
    if (callId !== null && dispatched.events.length > 0) await addClaim(db, callId, dedupKey)
    await finish(db, leased)
    return { kind: 'dispatched', claim, dispatched }
  }
  const { error } = dispatched
  if (await returnIfPassing(db, deferredEvents, { leased, error, random: context.random })) {
    return { ...dispatched, kind: 'returned' }
  }
  const { newId, scrub } = context
  await failDelivery(db, leased, { ...dispatched, newId, scrub })
  return dispatched
}

/**
 * What the event says, and its subjects as they stand. Events of the outbox were written with the
 * change that they tell of, so they hold. Of any other, the payment is locked, and `undefined` says
 * that it has moved on; a refund or a dispute is locked by its charge, like all that is reported of it.
 */
async function currentSubject(
  db: Kysely<Tables>,
  leased: LeasedEvent,
  context: ProcessingContext,
): Promise<Pick<Claim, 'subject' | 'superseded' | 'data'> | undefined> {
  const { dedup_key: key } = leased
  const about = aboutOf(leased)
  const stored = leased.data === null ? {} : { data: JSON.parse(leased.data) as StoredData }
  if (!leased.outbox) await lockCharge(db, about.ids.payment)
  const subjects = await loadSubjects(db, [about.ids], context)
  const subject = carriedBy(about, subjects, context) as Subject
  if (leased.outbox) return { subject, ...stored }
  if (Object.values(subject).includes(undefined)) throw new Error(`${key} is about nothing`)
  const standing = standingOf(about.row, key, subject as LockedSubject)
  if (standing === 'over') return undefined
  return { subject, ...(standing === 'overtaken' && { superseded: true }), ...stored }
}

async function lockCharge(db: Kysely<Tables>, id: string | null | undefined): Promise<void> {
  const payment = typeof id === 'string' ? await findPayment(db, id) : undefined
  if (payment !== undefined) await lockPayments(db, [payment.parentId ?? payment.id])
}

async function finish(db: Kysely<Tables>, leased: LeasedEvent): Promise<void> {
  const [lost] = await finishRows(db, deferredEvents, { leases: [leased] })
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
    await releaseToOthers({ ...context, error }, deferredEvents, [leased])
    return
  }
  if (isPassing(error) && mayReturn(leased)) {
    await returnAfter({ ...context, error }, deferredEvents, leased)
    return
  }
  const lost = lostByListener(error)
  const { newId, scrub } = context
  const failed = { error: lost?.error ?? error, newId, scrub }
  await context.database.transaction(({ db }) => failDelivery(db, leased, failed))
  if (leased.outbox) context.wake('subscription_events')
  noteFailedDelivery(context, leased, failed)
}
