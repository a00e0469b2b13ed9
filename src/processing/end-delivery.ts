import { sql, type Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { exceptionText } from '../kernel/exception-text.ts'
import type { Log } from '../kernel/log.ts'
import { failLease, type LeasedDelivery } from '../queue/lease.ts'
import { callAttempts, nextTry } from '../queue/retry.ts'

/** Ends a delivery that is done, behind its lease token; false where the lease is lost. */
export async function finishDelivery(db: Kysely<Tables>, leased: LeasedDelivery): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('billing.deliveries')
    .set({
      state: 'processed',
      exception: null,
      lease_token: null,
      lease_until: null,
      processed_at: sql<Date>`clock_timestamp()`,
    })
    .where('id', '=', leased.id)
    .where('lease_token', '=', leased.token)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

interface DeliveryFailure {
  readonly error: unknown
  /** Whose failure it is. */
  readonly listener: string | undefined
  readonly log: Log
  scrub(text: string): string
}

/** Records an attempt that failed; another one follows after a wait, or none. */
export async function failDelivery(
  db: Kysely<Tables>,
  leased: LeasedDelivery,
  { error, listener, log, scrub }: DeliveryFailure,
): Promise<void> {
  const next = nextTry(leased.attempts + 1, callAttempts)
  const entry = { err: error, delivery: leased.id, event: leased.dedup_key ?? undefined, listener }
  if (next.kind === 'give_up') log.error(entry, 'delivery failed: no attempts left')
  else log.warn(entry, 'delivery failed, will be retried')
  // Whose delivery it is stands on the row; only a dispatch is of several listeners.
  const where =
    listener === undefined || leased.listener !== null ? '' : `in listener ${listener}: `
  await failLease(db, 'billing.deliveries', {
    lease: leased,
    after: next.kind === 'retry' ? next.after : undefined,
    exception: where + exceptionText(error, scrub),
  })
}
