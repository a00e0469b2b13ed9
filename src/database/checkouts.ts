import { sql, type Kysely } from 'kysely'
import type { OpenedCheckout } from '../gateways/operations.ts'
import type { Payment } from '../payments/payment.ts'
import { toPayment } from './payments.ts'
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
  const { url, checkoutReference = null, providerReference = null, expiresAt, live = null } = found
  const row = await db
    .updateTable('billing.payments')
    .set({
      checkout: sql<Payment['checkout']>`case
        when checkout = 'unknown' or ${state} = 'closed' then ${state} else checkout end`,
      checkout_url: sql<string>`case
        when checkout in ('unknown', 'open') then coalesce(checkout_url, ${url ?? null})
        else checkout_url end`,
      operation_error: error,
      checkout_reference: sql<string>`coalesce(checkout_reference, ${checkoutReference})`,
      provider_reference: sql<string>`coalesce(provider_reference, ${providerReference})`,
      live: sql<boolean>`coalesce(live, ${live}::boolean)`,
      ...(expiresAt instanceof Date && { expires_at: expiresAt }),
      answered_at: sql<Date>`statement_timestamp()`,
      updated_at: sql<Date>`statement_timestamp()`,
    })
    .where('id', '=', paymentId)
    .returningAll()
    .executeTakeFirstOrThrow()
  return toPayment(row)
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
