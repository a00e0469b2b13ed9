import { sql, type Kysely } from 'kysely'
import type { OpenedCheckout } from '../gateways/operations.ts'
import type { Payment } from '../payments/payment.ts'
import { sqlStateOf } from './failure.ts'
import { named } from './named-statements.ts'
import { paymentColumns, toPayment, type PaymentRow } from './payments.ts'
import type { Tables } from './tables.ts'

/** The result of the request for a checkout, or for the charge of a saved card. */
export interface CheckoutAnswer {
  readonly state: 'open' | 'unknown' | 'refused' | 'closed'
  readonly found?: Partial<OpenedCheckout>
  readonly error: string | null
}

/**
 * Writes what the provider answered; its ids and the mode only if there are none yet. An answer
 * that comes after the checkout was closed leaves it closed, and sets no URL.
 */
export async function recordCheckout(
  db: Kysely<Tables>,
  paymentId: string,
  { state, found = {}, error }: CheckoutAnswer,
): Promise<Payment> {
  const { url = null, checkoutReference = null, providerReference = null } = found
  const { live = null } = found
  // A gateway of the app may be JavaScript.
  const expiresAt = found.expiresAt instanceof Date ? found.expiresAt : null
  const { rows } = await sql<PaymentRow>`${named('record-checkout')}
    update billing.payments set
      checkout = case when checkout = 'unknown' or ${state}::text = 'closed'
        then ${state}::text else checkout end,
      checkout_url = case when checkout in ('unknown', 'open')
        then coalesce(checkout_url, ${url}::text) else checkout_url end,
      operation_error = ${error},
      checkout_reference = coalesce(checkout_reference, ${checkoutReference}),
      provider_reference = coalesce(provider_reference, ${providerReference}),
      live = coalesce(live, ${live}::boolean),
      expires_at = coalesce(${expiresAt}::timestamptz, expires_at),
      answered_at = statement_timestamp(),
      updated_at = statement_timestamp()
    where id = ${paymentId}::uuid
    returning ${paymentColumns}`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error(`there is no payment ${paymentId}`)
  return toPayment(row)
}

/** Whether an answer was not written because its ids are those of another payment. */
export function isOfAnother(error: unknown): boolean {
  // unique_violation
  const isTaken = sqlStateOf(error) === '23505'
  return isTaken && error instanceof Error && 'table' in error && error.table === 'payments'
}

/** Writes the mode that the provider stated, if none is known yet. */
export async function recordMode(
  db: Kysely<Tables>,
  paymentId: string,
  live: boolean,
): Promise<void> {
  await db
    .updateTable('billing.payments')
    .set({ live })
    .where('id', '=', paymentId)
    .where('live', 'is', null)
    .execute()
}
