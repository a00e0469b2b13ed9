import { sql, type Kysely } from 'kysely'
import { lockSubscriptionState } from '../database/lock-subscriptions.ts'
import { findPeriod } from '../database/subscription-periods.ts'
import { writeChange, type ChangeOrigin } from '../database/subscription-changes.ts'
import type { Tables } from '../database/tables.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import type { Payment } from '../payments/payment.ts'
import { useCard } from '../subscriptions/use-card.ts'
import type { SubscriptionContext } from './applied.ts'

/**
 * A card that was saved with a payment of a subscription is what the subscription is charged by from
 * now on. The payment is locked. Said again of the same payment it changes nothing: meanwhile the
 * customer may have given another card.
 */
export async function useSavedCard(
  db: Kysely<Tables>,
  {
    payment,
    method,
    writing,
  }: {
    readonly payment: Payment
    readonly method: PaymentMethod
    readonly writing: ChangeOrigin
  },
  context: SubscriptionContext,
): Promise<void> {
  if (payment.periodId === null || method.status !== 'attached') return
  const period = await findPeriod(db, payment.periodId)
  if (period === undefined || !(await isNews(db, payment, method))) return
  const state = await lockSubscriptionState(db, period.subscriptionId, context.gateways)
  if (state === undefined || !fits(state.subscription, method)) return
  const moment = {
    now: await context.subscriptionTime(db),
    policy: context.subscriptionPolicy,
    held: false,
  }
  await writeChange(db, useCard(state, method.id, moment), writing)
}

function fits(
  subscription: { readonly status: string; readonly gateway: string },
  method: PaymentMethod,
): boolean {
  return subscription.status !== 'canceled' && subscription.gateway === method.gateway
}

async function isNews(
  db: Kysely<Tables>,
  { id }: Payment,
  method: PaymentMethod,
): Promise<boolean> {
  const { rows } = await sql`
    update billing.payments set saved_card_id = ${method.id}::uuid
    where id = ${id}::uuid and saved_card_id is distinct from ${method.id}::uuid returning id`.execute(
    db,
  )
  return rows.length > 0
}
