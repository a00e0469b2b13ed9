import type { Kysely } from 'kysely'
import { addClaim } from '../database/calls.ts'
import type { Transaction } from '../database/connect.ts'
import { idsOfDeferred, insertDeferredEvents } from '../database/deferred-events.ts'
import { insertFailedAttempt } from '../database/failed-attempts.ts'
import { isPassing } from '../database/failure.ts'
import { findPayments, lockPayments } from '../database/payments.ts'
import type { Tables } from '../database/tables.ts'
import type { CatalogueRow, EventType } from '../events/catalogue.ts'
import { standingOf, type LockedSubject } from '../events/dedup-key.ts'
import type { StoredData } from '../events/event-data.ts'
import type { Duration } from '../kernel/duration.ts'
import { assertNever } from '../kernel/errors.ts'
import type { NewId } from '../kernel/ids.ts'
import type { SourceClaims } from '../listeners/claim-events.ts'
import {
  dispatchEvents,
  lostByListener,
  type DispatchedSource,
} from '../listeners/dispatch-events.ts'
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

/** An event to dispatch; one that is out of date claims nothing. */
interface DeferredSource extends SourceClaims {
  readonly leased: LeasedEvent
}

/** What becomes of an event when its transaction commits. */
type EndedEvent = { readonly leased: LeasedEvent } & (
  | { readonly kind: 'left' }
  | {
      readonly kind: 'dispatched'
      readonly claims: readonly Claim[]
      readonly dispatched: Dispatched
    }
  | { readonly kind: 'failed' | 'returned'; readonly error: unknown; readonly listener: string }
)

/** `ended`: what becomes of the event is recorded; `left`: it needs a transaction of its own. */
export type DeferredEnd = 'ended' | 'left'

/**
 * Claims events and runs their listeners, in one transaction for all of them. They are retried like
 * calls. A single event is never left. Never rejects.
 */
export async function dispatchDeferred(
  events: readonly LeasedEvent[],
  context: ProcessingContext,
): Promise<readonly DeferredEnd[]> {
  let ended: readonly EndedEvent[]
  try {
    ended = await context.database.transaction((transaction) =>
      dispatchIn(transaction, events, context),
    )
  } catch (error) {
    return afterRollback(events, error, context)
  }
  for (const event of ended) afterEvent(event, context)
  wakeFor(
    ended.flatMap(({ kind, leased }) => (kind === 'left' ? [] : leased)),
    context,
  )
  return ended.map(({ kind }) => (kind === 'left' ? 'left' : 'ended'))
}

function afterEvent(ended: EndedEvent, context: ProcessingContext): void {
  const { leased } = ended
  if (ended.kind === 'failed') noteFailedDelivery(context, leased, ended)
  if (ended.kind === 'returned') {
    logReturned(context.log, deferredEvents, { row: leased, error: ended.error })
  }
  if (ended.kind !== 'dispatched' || ended.claims.length === 0) return
  const applied = ended.claims.map(
    (claim) => ({ kind: 'claim', type: '', payment: undefined, review: false, claim }) as const,
  )
  afterReport({ cause: leased.cause }, context, { applied, dispatched: ended.dispatched })
}

/** The next event of the subscription, or the document, may have waited for one that has ended. */
function wakeFor(ended: readonly LeasedEvent[], { wake }: ProcessingContext): void {
  if (ended.some(({ outbox }) => outbox)) wake('subscription_events')
}

async function dispatchIn(
  transaction: Transaction,
  events: readonly LeasedEvent[],
  context: ProcessingContext,
): Promise<readonly EndedEvent[]> {
  const { db } = transaction
  const sources = await sourcesOf(db, events, context)
  const dispatched = await dispatchEvents(transaction, sources, context)
  const finished = dispatched.filter((one) => one.dispatched.kind === 'dispatched')
  await finish(
    db,
    finished.map(({ leased }) => leased),
  )
  const ended: EndedEvent[] = []
  for (const one of dispatched) ended.push(await endEvent(db, one, context))
  return ended
}

async function endEvent(
  db: Kysely<Tables>,
  { leased, claims, dispatched }: DispatchedSource<DeferredSource>,
  context: ProcessingContext,
): Promise<EndedEvent> {
  switch (dispatched.kind) {
    case 'dispatched': {
      const { webhook_call_id: callId, dedup_key: key } = leased
      if (callId !== null && dispatched.events.length > 0) await addClaim(db, callId, key)
      return { leased, kind: 'dispatched', claims, dispatched }
    }
    case 'failed': {
      const { error } = dispatched
      const { newId, random, scrub } = context
      if (await returnIfPassing(db, deferredEvents, { leased, error, random })) {
        return { ...dispatched, leased, kind: 'returned' }
      }
      await failDelivery(db, leased, { ...dispatched, newId, scrub })
      return { ...dispatched, leased }
    }
    case 'left':
      return { leased, kind: 'left' }
    // Stryker disable next-line ConditionalExpression: there is no other kind
    default:
      return assertNever(dispatched)
  }
}

/**
 * What the events claim, with their subjects as they stand. Events of the outbox were written with
 * the change that they tell of, so they hold. Of any other, the payment is locked first; a refund or
 * a dispute is locked by its charge, like all that is reported of it.
 */
async function sourcesOf(
  db: Kysely<Tables>,
  events: readonly LeasedEvent[],
  context: ProcessingContext,
): Promise<readonly DeferredSource[]> {
  const known = events.map((leased) => ({ leased, about: aboutOf(leased) }))
  await lockCharges(
    db,
    known.flatMap(({ leased, about }) => (leased.outbox ? [] : (about.ids.payment ?? []))),
  )
  const subjects = await loadSubjects(
    db,
    known.map(({ about }) => about.ids),
    context,
  )
  return known.map(({ leased, about }) => {
    const { cause, webhook_call_id: callId, queue } = leased
    const source = { cause, callId, queue }
    const subject = carriedBy(about, subjects, context) as Subject
    const standing = leased.outbox ? 'holds' : standingAmong(leased, about.row, subject)
    return {
      leased,
      source,
      claims: standing === 'over' ? [] : [claimOf(leased, subject, standing === 'overtaken')],
    }
  })
}

function standingAmong({ dedup_key: key }: LeasedEvent, row: CatalogueRow, subject: Subject) {
  if (Object.values(subject).includes(undefined)) throw new Error(`${key} is about nothing`)
  return standingOf(row, key, subject as LockedSubject)
}

function claimOf(leased: LeasedEvent, subject: Subject, isOvertaken: boolean): Claim {
  const { id: eventId, dedup_key: dedupKey, data } = leased
  return {
    eventId,
    dedupKey,
    type: leased.type as EventType,
    subject,
    ...(isOvertaken && { superseded: true }),
    ...(data !== null && { data: JSON.parse(data) as StoredData }),
  }
}

async function lockCharges(db: Kysely<Tables>, ids: readonly string[]): Promise<void> {
  const payments = [...(await findPayments(db, ids)).values()]
  await lockPayments(
    db,
    payments.map(({ id, parentId }) => parentId ?? id),
  )
}

async function finish(db: Kysely<Tables>, leases: readonly LeasedEvent[]): Promise<void> {
  const [lost] = await finishRows(db, deferredEvents, { leases })
  if (lost !== undefined) throw leaseLost(lost)
}

/**
 * Of several events, only the one whose listener lost the transaction has used an attempt; each of
 * the others goes on alone. Never rejects.
 */
async function afterRollback(
  events: readonly LeasedEvent[],
  error: unknown,
  context: ProcessingContext,
): Promise<readonly DeferredEnd[]> {
  const lost = lostByListener(error)
  if (events.length > 1 && !isListenerMissing(error)) {
    const entry = { err: lost?.error ?? error, events: events.length }
    context.log.warn(entry, 'a batch failed; each event goes alone')
  }
  const ends = events.map(async (leased, index) => {
    const isOwn = events.length === 1 || isListenerMissing(error) || index === lost?.index
    if (!isOwn) return 'left'
    await recover(leased, error, context).catch((second: unknown) =>
      noteUnended(context, leased, second),
    )
    return 'ended'
  })
  return Promise.all(ends)
}

async function recover(
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
  wakeFor([leased], context)
  noteFailedDelivery(context, leased, failed)
}
