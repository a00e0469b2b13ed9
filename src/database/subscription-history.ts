import type { Kysely } from 'kysely'
import type { Payment } from '../payments/payment.ts'
import { attemptId } from '../subscriptions/open-period.ts'
import type { SubscriptionPeriod } from '../subscriptions/period.ts'
import { isRenewable } from '../subscriptions/standing.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { isChargeable, type CardGateways } from './lock-subscriptions.ts'
import { findPaymentMethods } from './payment-methods.ts'
import { toPayment } from './payments.ts'
import type { Tables } from './tables.ts'

/**
 * Every payment that was made for one of these periods: by the time of the period, then by the number
 * of the attempt, for several payments may be of the same time.
 */
export async function listPaymentsOfPeriods(
  db: Kysely<Tables>,
  periods: readonly SubscriptionPeriod[],
): Promise<readonly Payment[]> {
  if (periods.length === 0) return []
  const rows = await db
    .selectFrom('billing.payments')
    .selectAll()
    .where(
      'period_id',
      'in',
      periods.map(({ id }) => id),
    )
    .where('type', '=', 'charge')
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const inOrder = periods.toSorted(
    (one, other) => one.startsAt.getTime() - other.startsAt.getTime() || one.number - other.number,
  )
  const attempts = inOrder.flatMap(attemptsOf)
  const places = new Map(attempts.map((id, place) => [id, place]))
  // One that was made since the periods were read comes last.
  const placeOf = ({ id }: Payment) => places.get(id) ?? places.size
  return rows.map(toPayment).toSorted((one, other) => placeOf(one) - placeOf(other))
}

function attemptsOf(period: SubscriptionPeriod): readonly string[] {
  return Array.from({ length: period.paymentsMade }, (_, made) => attemptId(period, made + 1))
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
