import { sql, type Kysely } from 'kysely'
import { declineKindOf } from '../gateways/decline-kind.ts'
import type { Registry } from '../gateways/registry.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import type { LivePayment, SubscriptionState } from '../subscriptions/change.ts'
import type { SubscriptionPeriod } from '../subscriptions/period.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { named } from './named-statements.ts'
import { readManagedFacts } from './managed-subscriptions.ts'
import { findPaymentMethods } from './payment-methods.ts'
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
  if (ids.length === 0) return new Map()
  const { rows } = await sql<SubscriptionRow>`${named('lock-subscriptions')}
    select ${subscriptionColumns} from billing.subscriptions
    where id = any(${[...ids]}::uuid[]) order by id for no key update`.execute(db)
  return readStates(db, rows.map(toSubscription), gateways)
}

/**
 * Locks subscriptions that this process has leased. A subscription whose lease has passed to another
 * process is left out. It waits for a lock on the row: another worker's look for due subscriptions
 * also locks rows that it then finds taken, until its statement ends.
 */
export async function lockLeasedStates(
  db: Kysely<Tables>,
  leases: readonly { readonly id: string; readonly token: string }[],
  gateways: CardGateways,
): Promise<Map<string, SubscriptionState>> {
  const { rows } = await sql<SubscriptionRow>`${named('lock-leased-subscriptions')}
    select ${subscriptionColumns} from billing.subscriptions
    where id = any(${leases.map(({ id }) => id)}::uuid[])
      and lease_token = any(${leases.map(({ token }) => token)}::uuid[])
    order by id for no key update`.execute(db)
  return readStates(db, rows.map(toSubscription), gateways)
}

/** How it stands; only under its lock does that hold for longer than this moment. */
export async function readSubscriptionState(
  db: Kysely<Tables>,
  subscription: Subscription,
  gateways: CardGateways,
): Promise<SubscriptionState> {
  const state = (await readStates(db, [subscription], gateways)).get(subscription.id)
  if (state === undefined) throw new Error(`subscription ${subscription.id} was not read`)
  return state
}

/** In their order. The number of statements grows with those alone that a provider manages. */
async function readStates(
  db: Kysely<Tables>,
  subscriptions: readonly Subscription[],
  gateways: CardGateways,
): Promise<Map<string, SubscriptionState>> {
  const own = subscriptions.filter(({ managedBy }) => managedBy === 'local')
  const periods = await readStandingPeriods(
    db,
    own.map(({ id }) => id),
  )
  const open = [...periods.values()].flatMap((one) => one.open ?? [])
  const live = await findLivePayments(db, open)
  const cards = await findPaymentMethods(
    db,
    own.flatMap(({ paymentMethodId }) => paymentMethodId ?? []),
  )
  const declines = await findDeclines(db, open)
  const states = new Map<string, SubscriptionState>()
  for (const subscription of subscriptions) {
    const { id, paymentMethodId, gateway } = subscription
    const standing = periods.get(id)
    if (standing === undefined) {
      states.set(id, await readManaged(db, subscription))
      continue
    }
    const method = cards.get(paymentMethodId ?? '')
    const isThere = method?.gateway === gateway && isChargeable(method, gateways)
    const isGivenUp = declines.some(
      ({ code, ...of }) =>
        of.periodId === standing.open?.id &&
        of.paymentMethodId === paymentMethodId &&
        isHard(gateway, code, gateways),
    )
    const isCardUsable = isThere && !isGivenUp
    const ofOpen = live.get(standing.open?.id ?? '') ?? null
    states.set(id, { subscription, ...standing, live: ofOpen, isCardUsable })
  }
  return states
}

/**
 * Reads subscriptions that a provider manages. The provider names periods by their time, and no saved
 * card is charged here. Only the checkout that begins the subscription may be live.
 */
async function readManaged(
  db: Kysely<Tables>,
  subscription: Subscription,
): Promise<SubscriptionState> {
  const { periods, lastNumber } = await readLatestPeriods(db, subscription.id)
  const open = periods.find(({ state }) => state === 'open') ?? null
  return {
    subscription,
    open,
    current: periods.find(({ state }) => state === 'paid' || state === 'free') ?? null,
    live: (open && (await findLivePayments(db, [open])).get(open.id)) ?? null,
    lastNumber,
    isCardUsable: false,
    managed: { ...(await readManagedFacts(db, subscription.id)), periods },
  }
}

/**
 * By period, the payment that can still take money: the words of its unique index. Or the charge
 * that was refused, and whose process died before that was applied: a poll does it.
 */
async function findLivePayments(
  db: Kysely<Tables>,
  periods: readonly Pick<SubscriptionPeriod, 'id' | 'needs'>[],
): Promise<ReadonlyMap<string, LivePayment>> {
  if (periods.length === 0) return new Map()
  const { rows } = await sql<LivePayment>`${named('find-live-payments')}
    select distinct on (period_id) id, period_id as "periodId",
      payment_method_id is null as "isPage",
      payment_method_id is not null and status = 'pending' and checkout_url is not null
        as "needsPayer",
      expires_at as "expiresAt"
    from billing.payments
    where period_id = any(${periods.map(({ id }) => id)}::uuid[]) and status <> 'paid'
      and (checkout in ('unknown', 'open')
        or (checkout = 'refused' and status = 'pending' and payment_method_id is not null))
    order by period_id, checkout = 'refused'`.execute(db)
  // Where there is no page to confirm it on, the period remembers that it waits for that.
  const waiting = new Set(
    periods.filter(({ needs }) => needs === 'confirmation').map(({ id }) => id),
  )
  return new Map(
    rows.map((row) => {
      const { periodId, isPage, needsPayer } = row
      return [periodId, { ...row, needsPayer: needsPayer || (!isPage && waiting.has(periodId)) }]
    }),
  )
}

interface DeclinedCharge {
  readonly periodId: string
  readonly paymentMethodId: string
  readonly code: string
}

/**
 * Declines of saved cards in these periods, as far as they say why: the code of one may come only
 * after the next attempt was planned.
 */
async function findDeclines(
  db: Kysely<Tables>,
  periods: readonly Pick<SubscriptionPeriod, 'id' | 'declines'>[],
): Promise<readonly DeclinedCharge[]> {
  const declined = periods.filter(({ declines }) => declines > 0)
  if (declined.length === 0) return []
  const { rows } = await sql<DeclinedCharge>`${named('find-declines-of-periods')}
    select period_id as "periodId", payment_method_id as "paymentMethodId", decline_code as code
    from billing.payments
    where period_id = any(${declined.map(({ id }) => id)}::uuid[])
      and payment_method_id is not null and status = 'failed' and decline_code is not null`.execute(
    db,
  )
  return rows
}

/** Whether a decline is for good. */
function isHard(name: string, code: string, gateways: CardGateways): boolean {
  const gateway = gateways.find(name)?.gateway
  return gateway !== undefined && declineKindOf(gateway, code) === 'hard'
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
