import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { exceptionText } from '../kernel/exception-text.ts'
import type { Log } from '../kernel/log.ts'
import { webhookCalls, type LeasedCall } from '../queue/calls.ts'
import { deliveries, type LeasedDelivery } from '../queue/deliveries.ts'
import { failRow } from '../queue/end-rows.ts'
import { retryDelay } from '../queue/retry.ts'

/** An attempt that failed. */
export interface FailedAttempt {
  readonly error: unknown
  /** The listener that failed, if one did. */
  readonly listener?: string | undefined
  readonly log: Log
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
 * Records a failed attempt of a call; another follows after a wait, or none. False if the lease is
 * lost.
 */
export function failCall(
  db: Kysely<Tables>,
  call: LeasedCall,
  failed: FailedCall,
): Promise<boolean> {
  const { error, listener, log, paymentId, review } = failed
  const attempt = call.attempts + 1
  const after = retryDelay(attempt)
  const entry = { err: error, call: call.id, gateway: call.gateway, attempt, listener }
  if (after === undefined) log.error(entry, 'call failed: no attempts left')
  else log.warn({ ...entry, retryInSeconds: after / 1000 }, 'attempt failed, will be retried')
  return failRow(db, webhookCalls, {
    lease: call,
    after,
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
  const after = retryDelay(leased.attempts + 1)
  const entry = { err: error, delivery: leased.id, event: leased.dedup_key ?? undefined, listener }
  if (after === undefined) log.error(entry, 'delivery failed: no attempts left')
  else log.warn(entry, 'delivery failed, will be retried')
  return failRow(db, deliveries, {
    lease: leased,
    after,
    // A delivery's row names its listener; a deferred event may have several.
    exception: exceptionOf(leased.listener === null ? failed : { ...failed, listener: undefined }),
  })
}

/** What is stored of a failed attempt: the listener, and the error. */
export function exceptionOf({ error, listener, scrub }: Omit<FailedAttempt, 'log'>): string {
  const where = listener === undefined ? '' : `in listener ${listener}: `
  return where + exceptionText(error, scrub)
}
