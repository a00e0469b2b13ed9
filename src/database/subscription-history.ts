import type { Kysely } from 'kysely'
import type { Payment } from '../payments/payment.ts'
import { isRenewable } from '../subscriptions/standing.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { isChargeable, type CardGateways } from './lock-subscriptions.ts'
import { findPaymentMethods } from './payment-methods.ts'
import { toPayment } from './payments.ts'
import type { Tables } from './tables.ts'

/** Every payment that was made for one of these periods, oldest first. */
export async function listPaymentsOfPeriods(
  db: Kysely<Tables>,
  periodIds: readonly string[],
): Promise<readonly Payment[]> {
  if (periodIds.length === 0) return []
  const rows = await db
    .selectFrom('billing.payments')
    .selectAll()
    .where('period_id', 'in', periodIds)
    .where('type', '=', 'charge')
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(toPayment)
}

/** Those of these subscriptions that go on by themselves: by their ids. */
export async function findRenewable(
  db: Kysely<Tables>,
  subscriptions: readonly Subscription[],
  gateways: CardGateways,
): Promise<ReadonlySet<string>> {
  const cards = subscriptions.flatMap(({ paymentMethodId }) => paymentMethodId ?? [])
  const known = await findPaymentMethods(db, cards)
  const hasUsableCard = ({ gateway, paymentMethodId }: Subscription) => {
    const card = paymentMethodId === null ? undefined : known.get(paymentMethodId)
    return card?.gateway === gateway && isChargeable(card, gateways)
  }
  const renewable = subscriptions.filter((one) => isRenewable(one, hasUsableCard(one)))
  return new Set(renewable.map(({ id }) => id))
}
