import { sql, type Kysely } from 'kysely'
import type { OpenedCheckout } from '../gateways/operations.ts'
import type { Payment } from '../payments/payment.ts'
import { sqlStateOf } from './failure.ts'
import { givenRows } from './given-rows.ts'
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
  answer: CheckoutAnswer,
): Promise<Payment> {
  const payment = (await recordCheckouts(db, [{ ...answer, paymentId }])).get(paymentId)
  if (payment === undefined) throw new Error(`there is no payment ${paymentId}`)
  return payment
}

/**
 * The same for several, by payment. Their rows are locked in the order of their ids: two transactions
 * never wait for each other.
 */
export async function recordCheckouts(
  db: Kysely<Tables>,
  answers: readonly (CheckoutAnswer & { readonly paymentId: string })[],
): Promise<ReadonlyMap<string, Payment>> {
  if (answers.length === 0) return new Map()
  const given = answers.map(({ paymentId, state, error, found = {} }) => ({
    of_id: paymentId,
    state,
    error,
    url: found.url ?? null,
    checkout_id: found.checkoutReference ?? null,
    provider_id: found.providerReference ?? null,
    mode: found.live ?? null,
    // A gateway of the app may be JavaScript.
    ends_at: found.expiresAt instanceof Date ? found.expiresAt : null,
  }))
  const { rows } = await sql<PaymentRow>`${named('record-checkouts')}
    with locked as materialized (
      select id as locked_id from billing.payments
      where id = any(${answers.map(({ paymentId }) => paymentId)}::uuid[])
      order by id for no key update
    )
    update billing.payments set
      checkout = case when checkout = 'unknown' or state = 'closed' then state else checkout end,
      checkout_url = case when checkout in ('unknown', 'open')
        then coalesce(checkout_url, url) else checkout_url end,
      operation_error = error,
      checkout_reference = coalesce(checkout_reference, checkout_id),
      provider_reference = coalesce(provider_reference, provider_id),
      live = coalesce(live, mode),
      expires_at = coalesce(ends_at, expires_at),
      answered_at = statement_timestamp(),
      updated_at = statement_timestamp()
    from locked join ${givenRows(answerTypes, given)} on of_id = locked_id
    where id = locked_id
    returning ${paymentColumns}`.execute(db)
  return new Map(rows.map((row) => [row.id, toPayment(row)]))
}

const answerTypes = {
  of_id: 'uuid',
  state: 'text',
  error: 'text',
  url: 'text',
  checkout_id: 'text',
  provider_id: 'text',
  mode: 'boolean',
  ends_at: 'timestamptz',
}

/** Whether an answer was not written because another payment has its ids. */
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
