import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { exceptionText } from '../kernel/exception-text.ts'
import type { Log } from '../kernel/log.ts'
import { webhookCalls, type LeasedCall } from '../queue/calls.ts'
import { deliveries, type LeasedDelivery } from '../queue/deliveries.ts'
import { failRow } from '../queue/end-rows.ts'
import { callAttempts, nextTry } from '../queue/retry.ts'

/** What is written of an attempt that failed, and by what. */
export interface FailedAttempt {
  readonly error: unknown
  /** Whose failure it is, where it is a listener's. */
  readonly listener?: string | undefined
  readonly log: Log
  /** Blanks out known secrets. */
  scrub(text: string): string
}

/** What is known of a call by then. */
export interface FailedCall extends FailedAttempt {
  readonly paymentId?: string | undefined
  /** A person should look at what was made of it. */
  readonly review?: boolean
}

/**
 * Records an attempt of a call that failed; another one follows after a wait, or none. False where
 * the lease is lost.
 */
export function failCall(
  db: Kysely<Tables>,
  call: LeasedCall,
  failed: FailedCall,
): Promise<boolean> {
  const { error, listener, log, paymentId, review } = failed
  const attempt = call.attempts + 1
  const next = nextTry(attempt, callAttempts)
  const entry = { err: error, call: call.id, gateway: call.gateway, attempt, listener }
  if (next.kind === 'give_up') log.error(entry, 'call failed: no attempts left')
  else log.warn({ ...entry, retryInSeconds: next.after / 1000 }, 'attempt failed, will be retried')
  return failRow(db, webhookCalls, {
    lease: call,
    after: next.kind === 'retry' ? next.after : undefined,
    exception: exceptionOf(failed),
    columns: paymentId === undefined ? {} : { payment_id: paymentId },
    review,
  })
}

/** The same for a delivery, or for a deferred event. */
export function failDelivery(
  db: Kysely<Tables>,
  leased: LeasedDelivery,
  failed: FailedAttempt,
): Promise<boolean> {
  const { error, listener, log } = failed
  const next = nextTry(leased.attempts + 1, callAttempts)
  const entry = { err: error, delivery: leased.id, event: leased.dedup_key ?? undefined, listener }
  if (next.kind === 'give_up') log.error(entry, 'delivery failed: no attempts left')
  else log.warn(entry, 'delivery failed, will be retried')
  return failRow(db, deliveries, {
    lease: leased,
    after: next.kind === 'retry' ? next.after : undefined,
    // Whose delivery it is stands on the row; a deferred event is of several listeners.
    exception: exceptionOf(leased.listener === null ? failed : { ...failed, listener: undefined }),
  })
}

/** What is stored of a failed attempt: whose it was, and how it failed. */
export function exceptionOf({ error, listener, scrub }: Omit<FailedAttempt, 'log'>): string {
  const where = listener === undefined ? '' : `in listener ${listener}: `
  return where + exceptionText(error, scrub)
}
