import { sql, type Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { PaymentReference } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import { asNew } from '../queue/end-rows.ts'
import { findAwaited, keysIn } from './awaited-payments.ts'
import { readWaiting, waitingCalls, type WaitingCall } from './waiting-calls.ts'

/**
 * An early callback names a payment that does not exist yet. Its call ends Ignored
 * `unknown_payment` and keeps what it waits for; the creation of that payment requeues it. Both
 * sides write, commit, then look, so that at least one of them sees the other.
 */
export function awaitingKey(
  gateway: string,
  reference: PaymentReference | { readonly subscriptionReference: string },
): string {
  if ('id' in reference) return `id:${reference.id}`
  if ('subscriptionReference' in reference) {
    return `subscription:${gateway}/${reference.subscriptionReference}`
  }
  return 'checkoutReference' in reference
    ? `checkout:${gateway}/${reference.checkoutReference}`
    : `provider:${gateway}/${reference.providerReference}`
}

/** What waits until this payment is paid. */
export function paidKey({ id }: Pick<Payment, 'id'>): string {
  return `paid:${id}`
}

/** Everything that an early callback about this payment may be waiting for. */
function keysOf(payment: Payment): readonly string[] {
  const { id, gateway, checkoutReference, providerReference } = payment
  const names = [
    { id },
    checkoutReference === null ? null : { checkoutReference },
    providerReference === null ? null : { providerReference },
  ]
  return names.filter((name) => name !== null).map((name) => awaitingKey(gateway, name))
}

/**
 * Requeues a finished call as if it had just come. A mark for a person stays until the call ends
 * again.
 */
export const requeued = sql`${asNew}, awaiting = null, awaiting_also = null`

/** Called after a payment is committed; returns the ids of the calls that no longer wait. */
export async function requeueCallsAwaiting(
  db: Kysely<Tables>,
  payment: Payment,
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    update billing.webhook_calls set ${requeued}
    where (awaiting = any(${[...keysOf(payment)]}::text[])
        or awaiting_also = any(${[...keysOf(payment)]}::text[]))
      and state in ('processed', 'ignored')
    returning id`.execute(db)
  return rows.map((row) => row.id)
}

/**
 * Requeues waiting calls whose payment exists by now: one call right after it was committed as
 * waiting, or all of them (the sweeper's backstop). Returns the ids of the requeued calls.
 */
export async function requeueCallsWithPayment(
  db: Kysely<Tables>,
  callId?: string,
): Promise<readonly string[]> {
  if (callId !== undefined) return requeueThoseWithPayment(db, await readWaiting(db, callId))
  const back: string[] = []
  for await (const calls of waitingCalls(db)) {
    back.push(...(await requeueThoseWithPayment(db, calls)))
  }
  return back
}

/** Looks after the calls are read: what is created later requeues them itself. */
async function requeueThoseWithPayment(
  db: Kysely<Tables>,
  calls: readonly WaitingCall[],
): Promise<readonly string[]> {
  const there = await findAwaited(db, calls)
  const found = calls.filter((call) => keysIn(call).some((key) => there.has(key)))
  if (found.length === 0) return []
  const { rows } = await sql<{ id: string }>`
    update billing.webhook_calls set ${requeued}
    where id = any(${found.map(({ id }) => id)}::uuid[]) and awaiting is not null
      and state in ('processed', 'ignored')
    returning id`.execute(db)
  return rows.map((row) => row.id)
}
