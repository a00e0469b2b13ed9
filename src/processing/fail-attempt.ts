import type { Kysely } from 'kysely'
import { classifyFailure } from '../database/failure.ts'
import { insertFailedAttempt } from '../database/failed-attempts.ts'
import type { Tables } from '../database/tables.ts'
import { exceptionText } from '../kernel/exception-text.ts'
import type { NewId } from '../kernel/ids.ts'
import { reviewCalls } from '../outcomes/review-calls.ts'
import { webhookCalls, type LeasedCall } from '../queue/calls.ts'
import { deferredEvents, type LeasedEvent } from '../queue/deferred-events.ts'
import { deliveries, type LeasedDelivery } from '../queue/deliveries.ts'
import { failRow, returnRow } from '../leases/queue-rows.ts'
import {
  isLeaseLost,
  leaseLost,
  type Lease,
  type QueueRow,
  type QueueTable,
} from '../leases/leased-table.ts'
import { mayReturn, retryDelay, returnDelay } from '../queue/retry.ts'
import type { ProcessingContext } from './context.ts'
import { countDelivery, countFailedCall } from './count-work.ts'

/** An attempt that failed. */
export interface FailedAttempt {
  readonly error: unknown
  /** The listener that failed, if one did. */
  readonly listener?: string | undefined
  readonly newId: NewId
  /** Blanks out known secrets. */
  scrub(text: string): string
}

/** The same of a call, with what is known of it by then. */
export interface FailedCall extends FailedAttempt {
  readonly paymentId?: string | undefined
  /** A person should look at what was made of it. */
  readonly review?: boolean
}

/**
 * Records a failed attempt of a call, in a transaction; another follows after a wait, or none: then
 * a person must look. Throws `leaseLost`. To be logged once it is committed.
 */
export async function failCall(
  db: Kysely<Tables>,
  call: LeasedCall,
  failed: FailedCall,
): Promise<void> {
  const { newId, paymentId, review, listener = null } = failed
  const attempt = call.attempts + 1
  const after = retryDelay(attempt)
  const exception = exceptionOf(failed)
  const isOurs = await failRow(db, webhookCalls, {
    lease: call,
    after,
    exception,
    columns: paymentId === undefined ? {} : { payment_id: paymentId },
    review,
  })
  if (!isOurs) throw leaseLost(call)
  const of = { callId: call.id }
  await insertFailedAttempt(db, { id: newId(), of, attempt, listener, exception })
  if (after === undefined) await reviewCalls(db, [call.id], newId)
}

/** Logs and counts it. */
export function noteFailedCall(
  { log, numbers }: NoteContext,
  call: LeasedCall,
  failed: Pick<FailedAttempt, 'error' | 'listener'>,
): void {
  countFailedCall(numbers, call, failed)
  const { error, listener } = failed
  const { id, gateway } = call
  const attempt = call.attempts + 1
  const after = retryDelay(attempt)
  const entry = { err: error, call: id, gateway, attempt, listener }
  if (after === undefined) log.error(entry, 'call failed: no attempts left')
  else log.warn({ ...entry, retryInSeconds: after / 1000 }, 'attempt failed, will be retried')
}

/** Where it is said that something failed. */
type NoteContext = Pick<ProcessingContext, 'log' | 'numbers'>

/** The same for a delivery, or for a deferred event; in a transaction, too. */
export async function failDelivery(
  db: Kysely<Tables>,
  leased: LeasedDelivery | LeasedEvent,
  failed: FailedAttempt,
): Promise<void> {
  const attempt = leased.attempts + 1
  // A delivery's row names its listener; a deferred event may have several.
  const isDelivery = 'listener' in leased
  const exception = exceptionOf(isDelivery ? { ...failed, listener: undefined } : failed)
  const isOurs = await failRow(db, isDelivery ? deliveries : deferredEvents, {
    lease: leased,
    after: retryDelay(attempt),
    exception,
  })
  if (!isOurs) throw leaseLost(leased)
  const { listener = null, newId } = failed
  const of = { deliveryId: leased.id }
  await insertFailedAttempt(db, { id: newId(), of, attempt, listener, exception })
}

export function noteFailedDelivery(
  { log, numbers }: NoteContext,
  leased: LeasedDelivery | LeasedEvent,
  { error, listener }: Pick<FailedAttempt, 'error' | 'listener'>,
): void {
  const isDelivery = 'listener' in leased
  const event = isDelivery ? undefined : leased.dedup_key
  const entry = { err: error, delivery: leased.id, event, listener }
  const isOver = retryDelay(leased.attempts + 1) === undefined
  if (isOver && isDelivery) countDelivery(numbers, leased, 'failed')
  if (isOver) log.error(entry, 'delivery failed: no attempts left')
  else log.warn(entry, 'delivery failed, will be retried')
}

/** Of one whose end could not be recorded. */
export function noteUnended(
  { log }: Pick<NoteContext, 'log'>,
  { id }: Lease,
  error: unknown,
): void {
  if (isLeaseLost(error)) log.warn({ delivery: id }, lostText)
  else log.error({ err: error, delivery: id }, 'lease left to run out')
}

const lostText = 'lease lost while delivering; another worker has the delivery, or it has ended'

/**
 * Returns a row whose listener met a passing failure, in the transaction that it met: no attempt is
 * used. False if it was another failure, or if that has happened too often. Throws `leaseLost`.
 */
export async function returnIfPassing(
  db: Kysely<Tables>,
  table: QueueTable,
  { leased, error, random }: ListenerFailure,
): Promise<boolean> {
  if (!isPassingInListener(error) || !mayReturn(leased)) return false
  const after = returnDelay(leased.times_returned, random)
  if (!(await returnRow(db, table, { lease: leased, after }))) throw leaseLost(leased)
  return true
}

interface ListenerFailure {
  readonly leased: QueueRow
  readonly error: unknown
  readonly random: () => number
}

/** Reported by the server itself: a listener's network error may come from anywhere. */
export function isPassingInListener(error: unknown): boolean {
  return classifyFailure(error) === 'transient'
}

/** What is stored of a failed attempt: the listener, and the error. */
export function exceptionOf({ error, listener, scrub }: Omit<FailedAttempt, 'newId'>): string {
  const where = listener === undefined ? '' : `in listener ${listener}: `
  return where + exceptionText(error, scrub)
}
