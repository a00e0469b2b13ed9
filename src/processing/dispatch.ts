import { sql, type Kysely } from 'kysely'
import type { Transaction } from '../database/connect.ts'
import { isPassing } from '../database/failure.ts'
import { interval } from '../database/interval.ts'
import { findPaymentMethod } from '../database/payment-methods.ts'
import { findPayment, lockPayments } from '../database/payments.ts'
import type { Tables } from '../database/tables.ts'
import type { EventType } from '../events/catalogue.ts'
import { refundDedupKey, paymentDedupKey, paymentMethodDedupKey } from '../events/dedup-key.ts'
import type { Duration } from '../kernel/duration.ts'
import type { Cause, Payment } from '../payments/payment.ts'
import type { LeasedDelivery } from '../queue/lease.ts'
import { mayReturn } from '../queue/retry.ts'
import { subjectIds, type Claim } from '../outcomes/applied.ts'
import { concludeReport } from './after-commit.ts'
import { failDelivery, finishDelivery } from './end-delivery.ts'
import { leaseLost } from './finish-call.ts'
import { giveBack, leaveToOthers } from '../queue/give-back.ts'
import { isListenerMissing } from '../listeners/listeners.ts'
import type { Processing } from './context.ts'
import { isLostByListener, tellListeners, type Told } from '../listeners/tell-listeners.ts'

/** Why claims are put off, and until when. */
export interface Deferral {
  readonly cause: Cause
  readonly queue: string
  /** Attempts that have failed so far: 0 or 1. */
  readonly attempts: number
  readonly after: Duration
  readonly exception: string | null
}

/**
 * Puts off the dispatch of events that no stored call brings up again: a row of `deliveries` holds
 * what a worker needs to claim each of them later. One that is put off already stays as it is.
 */
export async function deferDispatch(
  db: Kysely<Tables>,
  claims: readonly Claim[],
  deferral: Deferral,
): Promise<void> {
  if (claims.length === 0) return
  const rows = claims.map(({ eventId, dedupKey, type, subject }) => {
    const ids = subjectIds(subject)
    return {
      id: eventId,
      dedup_key: dedupKey,
      event_type: type,
      payment_id: ids.paymentId,
      payment_method_id: ids.paymentMethodId,
      cause: deferral.cause,
      queue: deferral.queue,
      attempts: deferral.attempts,
      exception: deferral.exception,
      next_attempt_at: sql<Date>`clock_timestamp() + ${interval(deferral.after)}`,
    }
  })
  const insert = db.insertInto('billing.deliveries').values(rows)
  await insert
    .onConflict((conflict) =>
      conflict
        .column('dedup_key')
        .doUpdateSet((excluded) => ({
          state: 'pending',
          cause: excluded.ref('excluded.cause'),
          created_at: excluded.ref('excluded.created_at'),
          leases_lost: 0,
          times_returned: 0,
          attempts: excluded.ref('excluded.attempts'),
          exception: excluded.ref('excluded.exception'),
          next_attempt_at: excluded.ref('excluded.next_attempt_at'),
          processed_at: null,
        }))
        .where(sql<boolean>`deliveries.state = 'processed'`),
    )
    .execute()
}

/** A put-off dispatch as it was leased. */
export type LeasedDispatch = LeasedDelivery & {
  readonly dedup_key: string
  readonly event_type: string
  readonly cause: Cause
}

export function isDispatch(delivery: LeasedDelivery): delivery is LeasedDispatch {
  return delivery.dedup_key !== null
}

type Ended = { readonly claim: Claim; readonly told: Told } | undefined

/** Claims the event and tells its listeners; retried like a call. Never rejects. */
export async function dispatch(leased: LeasedDispatch, processing: Processing): Promise<void> {
  let ended: Ended
  try {
    ended = await processing.database.transaction((transaction) =>
      dispatchIn(transaction, leased, processing),
    )
  } catch (error) {
    await recordLost(leased, processing, error)
    return
  }
  if (ended === undefined || ended.told.kind !== 'told') return
  concludeReport({ gateway: undefined }, processing, {
    applied: [{ kind: 'claim', type: '', payment: undefined, review: false, claim: ended.claim }],
    told: ended.told,
  })
}

async function dispatchIn(
  transaction: Transaction,
  leased: LeasedDispatch,
  processing: Processing,
): Promise<Ended> {
  const { db } = transaction
  const current = await currentSubject(db, leased)
  if (current === undefined) {
    await finish(db, leased)
    return undefined
  }
  const { event_type: type, dedup_key: dedupKey, cause, queue } = leased
  const claim = { eventId: leased.id, dedupKey, type: type as EventType, ...current }
  const source = { cause, callId: null, queue } as const
  const [told] = await tellListeners(transaction, [[{ claim, source }]], {
    ...processing,
    onBegin: () => {},
  })
  if (told === undefined) throw new Error('nobody was told')
  if (told.kind === 'told') await finish(db, leased)
  else if (told.kind === 'failed') await failDelivery(db, leased, { ...processing, ...told })
  return { claim, told }
}

/**
 * The row under its lock, if it still is what the event says, or if it is a payment that was paid
 * after what the event says: that is superseded. Undefined where it has moved on otherwise.
 */
async function currentSubject(
  db: Kysely<Tables>,
  { dedup_key: key, payment_id: paymentId, payment_method_id: methodId }: LeasedDispatch,
): Promise<Pick<Claim, 'subject' | 'superseded'> | undefined> {
  if (methodId !== null) {
    const paymentMethod = await findPaymentMethod(db, methodId)
    const holds =
      paymentMethod !== undefined &&
      paymentMethodDedupKey(paymentMethod.status, paymentMethod) === key
    return holds ? { subject: { paymentMethod } } : undefined
  }
  const known = paymentId === null ? undefined : await findPayment(db, paymentId)
  if (known === undefined) return undefined
  // A refund goes under the lock of its charge, like everything that is reported of it.
  await lockPayments(db, [known.parentId ?? known.id])
  const payment = await findPayment(db, known.id)
  if (payment === undefined) return undefined
  if (keyOf(payment) === key) return { subject: { payment } }
  return isOvertaken(payment, key) ? { subject: { payment }, superseded: true } : undefined
}

/** Of the event that tells how it stands; while it is pending there is none. */
function keyOf({ id, type, status }: Payment): string | undefined {
  if (status === 'pending') return undefined
  return type === 'refund' && status === 'paid' ? refundDedupKey(id) : paymentDedupKey(status, id)
}

/** Whether this is the key of a decline, or of an end, of what is paid by now. */
function isOvertaken({ id, type, status }: Payment, key: string): boolean {
  const isPaid = type === 'charge' && status === 'paid'
  return isPaid && [paymentDedupKey('failed', id), paymentDedupKey('canceled', id)].includes(key)
}

async function finish(db: Kysely<Tables>, leased: LeasedDispatch): Promise<void> {
  if (!(await finishDelivery(db, leased))) throw leaseLost(leased)
}

/** A listener that committed may have committed the claim with it: it is taken back. */
async function recordLost(
  leased: LeasedDispatch,
  processing: Processing,
  error: unknown,
): Promise<void> {
  const { db } = processing.database
  try {
    if (isListenerMissing(error)) {
      await leaveToOthers([leased], 'billing.deliveries', { ...processing, error })
      return
    }
    if (isLostByListener(error)) {
      await db.deleteFrom('billing.events').where('id', '=', leased.id).execute()
    } else if (isPassing(error) && mayReturn(leased)) {
      await giveBack(leased, 'billing.deliveries', { ...processing, error })
      return
    }
    await failDelivery(db, leased, { ...processing, error, listener: undefined })
  } catch (second) {
    processing.log.error({ err: second, delivery: leased.id }, 'lease left to run out')
  }
}
