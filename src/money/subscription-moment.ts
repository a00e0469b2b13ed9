import type { Kysely } from 'kysely'
import { readChargeHolds } from '../database/charge-holds.ts'
import { clocksApart } from '../queue/due-subscriptions.ts'
import type { Tables } from '../database/tables.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import { requireGateway, requireOperation } from '../gateways/require.ts'
import { isQuittanceError } from '../kernel/errors.ts'
import type { Moment } from '../subscriptions/change.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import type { MoneyContext } from './context.ts'

/** A moment, and why this process may charge no card in it, where others perhaps may. */
export type SubscriptionMoment = Moment & { readonly fault: string | null }

/** Where a subscription is charged. */
type Sold = Pick<Subscription, 'managedBy' | 'gateway' | 'merchantAccount' | 'live'>

/** Read in the transaction that decides: what has been held by then is held. */
export async function readMoment(
  db: Kysely<Tables>,
  sold: Sold,
  context: MoneyContext,
): Promise<SubscriptionMoment> {
  return (await readMoments(db, [sold.gateway], context))(sold)
}

/** One moment for subscriptions of several gateways. */
export async function readMoments(
  db: Kysely<Tables>,
  gateways: readonly string[],
  context: MoneyContext,
): Promise<(sold: Sold) => SubscriptionMoment> {
  const { subscriptionTime, subscriptionPolicy: policy } = context.processing
  const now = await subscriptionTime(db)
  const holds = await readChargeHolds(db, gateways)
  return (sold) => {
    const fault = clockFault(holds.now, context) ?? gatewayFault(sold, context)
    const isHeld = holds.reasonOf(sold.gateway) !== null
    return { now, policy, held: isHeld || fault !== null, fault }
  }
}

/** Why nothing is due by these clocks; null: they are the same. */
export function clockFault(databaseTime: Date, context: Pick<MoneyContext, 'now'>): string | null {
  const apart = Math.abs(context.now().getTime() - databaseTime.getTime())
  if (apart <= clocksApart) return null
  return `our clock and the database's differ by ${Math.round(apart / 60_000)} min`
}

/** Without a provider to ask, no payment is even written. */
function gatewayFault(sold: Sold, { processing }: MoneyContext): string | null {
  // We charge no card for it.
  if (sold.managedBy === 'provider') return null
  try {
    const found = requireGateway(processing.gateways, sold.gateway)
    requireOperation(found, 'chargeSavedCard')
    return accountFault(sold, found)
  } catch (error) {
    if (!isQuittanceError(error)) throw error
    return error.message
  }
}

/** The credentials were exchanged: the cards are saved elsewhere, and nobody else's are at fault. */
export function accountFault(
  { merchantAccount, live }: Sold,
  { gateway, credentials }: RegisteredGateway,
): string | null {
  const own = gateway.account(credentials)
  const differs = (one: unknown, other: unknown) => one !== null && other !== null && one !== other
  if (differs(merchantAccount, own.merchantAccount)) {
    return `a subscription is of merchant account ${merchantAccount}, the credentials are not`
  }
  if (!differs(live, own.live)) return null
  return `a subscription is of ${live === true ? 'live' : 'test'} mode, the credentials are not`
}
