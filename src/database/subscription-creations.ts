import { sql, type Kysely } from 'kysely'
import type { Payment } from '../payments/payment.ts'
import { findPayment } from './payments.ts'
import type { Tables } from './tables.ts'

/** What a subscription was made with, for a creation that is repeated. */
export interface SubscriptionCreation {
  readonly id: string
  readonly content: string | null
  readonly writtenBy: string | null
  /** The first payment of its first period, if one was made. */
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
  const { rows } = await sql<{ id: string }>`
    select payment.id from billing.subscription_periods as period
    join billing.payments as payment on payment.period_id = period.id
    where period.subscription_id = ${id}::uuid and period.number = 1
    order by payment.created_at, payment.id limit 1`.execute(db)
  const [first] = rows
  const firstPayment = first === undefined ? undefined : await findPayment(db, first.id)
  return {
    id: row.id,
    content: row.content,
    writtenBy: row.written_by,
    firstPayment: firstPayment ?? null,
  }
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
