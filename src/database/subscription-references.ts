import { sql, type Kysely } from 'kysely'
import type { Tables } from './tables.ts'

/** A subscription as its provider names it; its ids are unique within a merchant's account. */
export interface SubscriptionReference {
  readonly gateway: string
  readonly subscriptionReference: string
  readonly merchantAccount: string | undefined
}

/** The id of the payment that started a subscription, if a paid report said so. */
export async function findFirstPaymentId(
  db: Kysely<Tables>,
  { gateway, subscriptionReference, merchantAccount }: SubscriptionReference,
): Promise<string | undefined> {
  // One of another account is found too, so that it is reported as such.
  const { rows } = await sql<{ id: string }>`
    select id from billing.payments
    where gateway = ${gateway} and type = 'charge'
      and subscription_reference = ${subscriptionReference}
    order by coalesce(merchant_account, '') = ${merchantAccount ?? ''} desc, created_at, id
    limit 1`.execute(db)
  return rows[0]?.id
}

/** The provider's id of the subscription that a payment started; undefined while unknown. */
export async function findSubscriptionReference(
  db: Kysely<Tables>,
  paymentId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('billing.payments')
    .select('subscription_reference')
    .where('id', '=', paymentId)
    .executeTakeFirst()
  return row?.subscription_reference ?? undefined
}

/** Set once: whatever comes later is another subscription. */
export async function keepSubscriptionReference(
  db: Kysely<Tables>,
  paymentId: string,
  subscriptionReference: string,
): Promise<void> {
  await db
    .updateTable('billing.payments')
    .set({ subscription_reference: subscriptionReference })
    .where('id', '=', paymentId)
    .where('subscription_reference', 'is', null)
    .execute()
}
