import type { Kysely } from 'kysely'
import { listDeferredEventsOfSubscription } from '../database/deferred-events.ts'
import { listEvents } from '../database/events.ts'
import { readSubscriptionState } from '../database/lock-subscriptions.ts'
import { findPayment } from '../database/payments.ts'
import type { Page } from '../database/page.ts'
import { findPayablesWithAccess, findRenewable } from '../database/payable-access.ts'
import {
  listPaymentsOfPeriods,
  listPeriods,
  readStandingPeriods,
} from '../database/subscription-periods.ts'
import {
  findSubscription,
  listSubscriptions,
  listSubscriptionTransitions,
  type SubscriptionsQuery,
} from '../database/subscriptions.ts'
import type { Tables } from '../database/tables.ts'
import { owedOf, type SubscriptionBill } from '../money/subscription-bill.ts'
import type { Payable } from '../payments/payment.ts'
import type { ProcessingContext } from '../processing/context.ts'
import type { AccessOptions } from '../subscriptions/access.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { subscriptionDetailsView, type SubscriptionDetails } from '../wire/subscription-details.ts'
import { listedSubscriptionOf, type ListedSubscription } from '../wire/subscription.ts'
import { withJson } from '../kernel/with-json.ts'

/** What reading subscriptions needs besides the database. */
export type ReadContext = Pick<ProcessingContext, 'gateways' | 'subscriptionTime' | 'payPageUrl'>

/** As they stand now: access goes by the clock. */
export async function listedSubscriptions(
  db: Kysely<Tables>,
  subscriptions: readonly Subscription[],
  { gateways, subscriptionTime }: ReadContext,
): Promise<readonly ListedSubscription[]> {
  if (subscriptions.length === 0) return []
  const [renewable, now] = await Promise.all([
    findRenewable(db, subscriptions, gateways),
    subscriptionTime(db),
  ])
  return subscriptions.map((one) =>
    listedSubscriptionOf(one, { renewable: renewable.has(one.id), now }),
  )
}

export async function pageOfSubscriptions(
  db: Kysely<Tables>,
  query: SubscriptionsQuery,
  context: ReadContext,
): Promise<Page<ListedSubscription>> {
  const page = await listSubscriptions(db, query)
  return { ...page, data: await listedSubscriptions(db, page.data, context) }
}

/** Whether any such subscription of this payable gives access now. */
export async function givesAccess(
  db: Kysely<Tables>,
  { payable, test }: AccessOptions & { readonly payable: Payable },
  { gateways, subscriptionTime, production }: ReadContext & Pick<ProcessingContext, 'production'>,
): Promise<boolean> {
  const now = await subscriptionTime(db)
  const counted = { gateways, now, test: test ?? !production }
  return (await findPayablesWithAccess(db, [payable], counted))(payable)
}

/** How many periods, and events, of its history are shown. */
const mostShown = 100

export async function readDetails(
  db: Kysely<Tables>,
  id: string,
  context: ReadContext,
): Promise<SubscriptionDetails | undefined> {
  const subscription = await findSubscription(db, id)
  if (subscription === undefined) return undefined
  const { data: latest } = await listPeriods(db, { subscriptionId: id, limit: mostShown })
  const periods = latest.toReversed()
  const [listed, standing, transitions, payments, events, deferredEvents] = await Promise.all([
    listedSubscriptions(db, [subscription], context),
    readStandingPeriods(db, [id]),
    listSubscriptionTransitions(db, id),
    listPaymentsOfPeriods(db, periods),
    listEvents(db, { subscriptionId: id, limit: mostShown }),
    listDeferredEventsOfSubscription(db, id),
  ])
  const [first] = listed
  if (first === undefined) return undefined
  const details = {
    ...first,
    payUrl: context.payPageUrl(id),
    currentPeriod: standing.get(id)?.current ?? null,
    openPeriod: standing.get(id)?.open ?? null,
    periods,
    transitions,
    payments,
    events: events.data.toReversed(),
    deferredEvents,
  }
  return withJson(details, subscriptionDetailsView) satisfies SubscriptionDetails
}

/** What its pay page shows. */
export async function readBill(
  db: Kysely<Tables>,
  id: string,
  { gateways, subscriptionTime }: ReadContext,
): Promise<SubscriptionBill | undefined> {
  const subscription = await findSubscription(db, id)
  if (subscription === undefined) return undefined
  const state = await readSubscriptionState(db, subscription, gateways)
  const { live } = state
  const payment = live === null ? undefined : await findPayment(db, live.id)
  return {
    subscription,
    owed: owedOf(state, await subscriptionTime(db)),
    live: payment ?? null,
    isCharging: live !== null && !live.isPage && !live.needsPayer,
  }
}
