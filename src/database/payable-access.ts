import type { Kysely } from 'kysely'
import type { Payable } from '../payments/payment.ts'
import { hasAccess } from '../subscriptions/access.ts'
import { isRenewable } from '../subscriptions/standing.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { isChargeable, type CardGateways } from './lock-subscriptions.ts'
import { findPaymentMethods } from './payment-methods.ts'
import { findSubscriptionsOf } from './subscriptions.ts'
import type { Tables } from './tables.ts'

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

/**
 * Those of these payables to which any of their subscriptions gives access now; those of test money
 * only where `test` is true. One look at the subscriptions: their cards matter only to a trial that is
 * over, and are looked up only then.
 */
export async function findPayablesWithAccess(
  db: Kysely<Tables>,
  payables: readonly Payable[],
  {
    gateways,
    now,
    test,
  }: { readonly gateways: CardGateways; readonly now: Date; readonly test: boolean },
): Promise<(payable: Payable) => boolean> {
  const all = await findSubscriptionsOf(db, payables)
  const subscriptions = all.filter(({ live }) => test || live !== false)
  const giving = new Set<string>()
  for (const one of subscriptions) {
    if (hasAccess({ ...one, renewable: false }, now)) giving.add(nameOf(one.payable))
  }
  const ifRenewable = subscriptions.filter(
    (one) => !giving.has(nameOf(one.payable)) && hasAccess({ ...one, renewable: true }, now),
  )
  const renewable = await findRenewable(db, ifRenewable, gateways)
  for (const { id, payable } of ifRenewable) if (renewable.has(id)) giving.add(nameOf(payable))
  return (payable) => giving.has(nameOf(payable))
}

function nameOf({ type, id }: Payable): string {
  return JSON.stringify([type, id])
}
