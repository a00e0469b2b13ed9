import { sql, type Kysely } from 'kysely'
import { declineKindOf } from '../gateways/decline-kind.ts'
import type { Registry } from '../gateways/registry.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import type { LivePayment, SubscriptionState } from '../subscriptions/change.ts'
import type { SubscriptionPeriod } from '../subscriptions/period.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { named } from './named-statements.ts'
import { readManagedFacts } from './managed-subscriptions.ts'
import { findPaymentMethod } from './payment-methods.ts'
import { readLatestPeriods, readStandingPeriods } from './subscription-periods.ts'
import { subscriptionColumns, toSubscription, type SubscriptionRow } from './subscriptions.ts'
import type { Tables } from './tables.ts'

/** Whoever reads a state needs to know which cards a gateway can charge. */
export type CardGateways = Pick<Registry, 'find'>

/**
 * Locks the subscription and reads all that a decision needs. Undefined: there is none. Whoever
 * holds payments may lock it; whoever holds it locks no payment that was there.
 */
export async function lockSubscriptionState(
  db: Kysely<Tables>,
  id: string,
  gateways: CardGateways,
): Promise<SubscriptionState | undefined> {
  return (await lockSubscriptionStates(db, [id], gateways)).get(id)
}

/** The same for several, in the order of their ids: two transactions never wait for each other. */
export async function lockSubscriptionStates(
  db: Kysely<Tables>,
  ids: readonly string[],
  gateways: CardGateways,
): Promise<Map<string, SubscriptionState>> {
  const states = new Map<string, SubscriptionState>()
  if (ids.length === 0) return states
  const { rows } = await sql<SubscriptionRow>`${named('lock-subscriptions')}
    select ${subscriptionColumns} from billing.subscriptions
    where id = any(${[...ids]}::uuid[]) order by id for no key update`.execute(db)
  for (const row of rows) {
    states.set(row.id, await readSubscriptionState(db, toSubscription(row), gateways))
  }
  return states
}

/**
 * The same for whoever has leased it; undefined: the lease is another's by now. It waits for whoever
 * holds the row: that may be another worker's look for what is due, which locks also what it then
 * finds taken, until its statement is over.
 */
export async function lockLeasedState(
  db: Kysely<Tables>,
  { id, token }: { readonly id: string; readonly token: string },
  gateways: CardGateways,
): Promise<SubscriptionState | undefined> {
  const { rows } = await sql<SubscriptionRow>`${named('lock-leased-subscription')}
    select ${subscriptionColumns} from billing.subscriptions
    where id = ${id}::uuid and lease_token = ${token}::uuid
    for no key update`.execute(db)
  const [row] = rows
  return row && readSubscriptionState(db, toSubscription(row), gateways)
}

/** How it stands; only under its lock does that hold for longer than this moment. */
export async function readSubscriptionState(
  db: Kysely<Tables>,
  subscription: Subscription,
  gateways: CardGateways,
): Promise<SubscriptionState> {
  if (subscription.managedBy === 'provider') return readManaged(db, subscription)
  const periods = await readStandingPeriods(db, subscription.id)
  const live = periods.open === null ? null : await findLivePayment(db, periods.open)
  const isCardUsable =
    (await hasUsableCard(db, subscription, gateways)) &&
    !(await isGivenUp(db, { subscription, open: periods.open }, gateways))
  return { subscription, ...periods, live, isCardUsable }
}

/** One that its provider manages: it names periods by their time, and no card of ours is charged. */
async function readManagedState(
  db: Kysely<Tables>,
  subscription: Subscription,
): Promise<SubscriptionState> {
  const { periods, lastNumber } = await readLatestPeriods(db, subscription.id)
  const open = periods.find(({ state }) => state === 'open') ?? null
  return {
    subscription,
    open,
    current: periods.find(({ state }) => state === 'paid' || state === 'free') ?? null,
    live: open && (await findLivePayment(db, open)),
    lastNumber,
    isCardUsable: false,
    managed: { ...(await readManagedFacts(db, subscription.id)), periods },
  }
}

/** No payment of ours is live for it, but the checkout with which it is to begin. */
async function readManaged(
  db: Kysely<Tables>,
  subscription: Subscription,
): Promise<SubscriptionState> {
  const state = await readManagedState(db, subscription)
  const { open } = state
  const isAwaited = subscription.status === 'incomplete' && open !== null
  return isAwaited ? { ...state, live: await findLivePayment(db, open) } : state
}

/**
 * The payment of the period that can still take money: the words of its unique index. Or the charge
 * that was refused, and whose process died before that was applied: a poll does it.
 */
async function findLivePayment(
  db: Kysely<Tables>,
  { id: periodId, needs }: Pick<SubscriptionPeriod, 'id' | 'needs'>,
): Promise<LivePayment | null> {
  const { rows } = await sql<LivePayment>`${named('find-live-payment')}
    select id, period_id as "periodId", payment_method_id is null as "isPage",
      payment_method_id is not null and status = 'pending' and checkout_url is not null
        as "needsPayer",
      expires_at as "expiresAt"
    from billing.payments
    where period_id = ${periodId}::uuid and status <> 'paid' and (checkout in ('unknown', 'open')
      or (checkout = 'refused' and status = 'pending' and payment_method_id is not null))
    order by checkout = 'refused' limit 1`.execute(db)
  const [live] = rows
  if (live === undefined) return null
  // Where there is no page to confirm it on, the period remembers that it waits for that.
  return { ...live, needsPayer: live.needsPayer || (!live.isPage && needs === 'confirmation') }
}

/**
 * Whether the card was declined for good in this period: its code may come only after the next
 * attempt was planned.
 */
async function isGivenUp(
  db: Kysely<Tables>,
  { subscription, open }: Pick<SubscriptionState, 'subscription' | 'open'>,
  gateways: CardGateways,
): Promise<boolean> {
  const gateway = gateways.find(subscription.gateway)?.gateway
  if (open === null || open.declines === 0 || gateway === undefined) return false
  const { rows } = await sql<{ code: string }>`${named('find-declines-of-period')}
    select decline_code as code from billing.payments
    where period_id = ${open.id}::uuid and payment_method_id = ${subscription.paymentMethodId}::uuid
      and status = 'failed' and decline_code is not null`.execute(db)
  return rows.some(({ code }) => declineKindOf(gateway, code) === 'hard')
}

/** Whether its saved card is there and can be charged. */
export async function hasUsableCard(
  db: Kysely<Tables>,
  { paymentMethodId, gateway }: Subscription,
  gateways: CardGateways,
): Promise<boolean> {
  const method = paymentMethodId === null ? undefined : await findPaymentMethod(db, paymentMethodId)
  return method?.gateway === gateway && isChargeable(method, gateways)
}

/** Whether a saved card can be charged, as far as we know: its provider may say otherwise. */
export function isChargeable(
  { gateway, status, hasToken }: PaymentMethod,
  gateways: CardGateways,
): boolean {
  const found = gateways.find(gateway)
  const needsToken = found !== undefined && found.gateway.secretFields.length > 0
  return status === 'attached' && (hasToken || !needsToken)
}
