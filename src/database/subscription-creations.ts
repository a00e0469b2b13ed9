import { sql, type Kysely } from 'kysely'
import type { Payment } from '../payments/payment.ts'
import { attemptId } from '../subscriptions/open-period.ts'
import { findPayments } from './payments.ts'
import type { Tables } from './tables.ts'

/** What a subscription was made with, for a creation that is repeated. */
export interface SubscriptionCreation {
  readonly id: string
  readonly content: string | null
  readonly writtenBy: string | null
  /** The first payment of its first period, or of its trial, if one was made. */
  readonly firstPayment: Payment | null
}

export async function readCreation(
  db: Kysely<Tables>,
  id: string,
): Promise<SubscriptionCreation | undefined> {
  const row = await db
    .selectFrom('billing.subscriptions')
    .select(['id', 'content', 'written_by'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (row === undefined) return undefined
  return {
    id: row.id,
    content: row.content,
    writtenBy: row.written_by,
    firstPayment: await findFirstPayment(db, id),
  }
}

/** The checkout that a provider's subscription begins with is of its trial, if it has one. */
async function findFirstPayment(db: Kysely<Tables>, id: string): Promise<Payment | null> {
  const periods = await db
    .selectFrom('billing.subscription_periods')
    .select(['id', 'nominal_starts_at as nominalStartsAt'])
    .where('subscription_id', '=', id)
    .where('number', 'in', [0, 1])
    .orderBy('number')
    .execute()
  const ids = periods.map((period) => attemptId(period, 1))
  const payments = await findPayments(db, ids)
  return ids.map((one) => payments.get(one)).find((one) => one !== undefined) ?? null
}

/** Where the payer was to go on to as it was made, if that was said. */
export async function readReturnUrl(db: Kysely<Tables>, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('billing.subscriptions')
    .select('content')
    .where('id', '=', id)
    .executeTakeFirst()
  if (row?.content == null) return undefined
  const { returnUrl } = JSON.parse(row.content) as { readonly returnUrl?: unknown }
  return typeof returnUrl === 'string' ? returnUrl : undefined
}

/**
 * The payer of this payment goes on to where its subscription says, unless it says so itself. Nobody
 * may hold the subscription: payments are locked before those.
 */
export async function returnAsSubscribed(db: Kysely<Tables>, paymentId: string): Promise<void> {
  await sql`
    update billing.payments as payment set return_url = made.content::json ->> 'returnUrl'
    from billing.subscription_periods as period
    join billing.subscriptions as made on made.id = period.subscription_id
    where payment.id = ${paymentId}::uuid and period.id = payment.period_id
      and payment.return_url is null`.execute(db)
}
