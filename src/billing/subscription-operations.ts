import { holdCharges, releaseCharges } from '../database/charge-holds.ts'
import { listDueSubscriptions } from '../database/list-due-subscriptions.ts'
import { findSubscription } from '../database/subscriptions.ts'
import { withUuid } from '../kernel/uuid.ts'
import {
  cancelNowOrLater,
  change,
  pauseNowOrLater,
  pay,
  resume,
} from '../money/change-subscription.ts'
import type { SubscriptionContext } from '../money/context.ts'
import { makeSubscription } from '../money/create-subscription.ts'
import { syncNow } from '../money/managed-subscription.ts'
import { readSubscriptionInput } from '../money/subscription-input.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { runDueSubscriptions } from '../upkeep/run-subscriptions.ts'
import { moveDueWindows } from '../usage/move-windows.ts'
import type { ListedSubscription } from '../wire/subscription.ts'
import { entitled, handle } from './handles.ts'
import { checked, dueQuery, readAccess, subscriptionsQuery } from './list-queries.ts'
import type { Runtime } from './runtime.ts'
import {
  givesAccess,
  listedSubscriptions,
  pageOfSubscriptions,
  readBill,
  readDetails,
} from './subscription-reads.ts'
import type { SubscriptionOperations } from './subscription-types.ts'

/** `billing.subscriptions` */
export function subscriptionOperations(runtime: Runtime): SubscriptionOperations {
  return { ...wishes(runtime), ...reads(runtime), ...upkeep(runtime) }
}

type Wishes = Pick<
  SubscriptionOperations,
  'create' | 'cancel' | 'pause' | 'resume' | 'change' | 'pay' | 'sync'
>

function wishes(runtime: Runtime): Wishes {
  const contextOf = async (what: string): Promise<SubscriptionContext> => {
    const { plans, subscriptions } = runtime.settings
    const context = await entitled(runtime, `billing.subscriptions.${what}`)
    return { ...context, subscriptions: { ...subscriptions, plans } }
  }
  return {
    create: async (given) => {
      const context = await contextOf('create')
      const input = readSubscriptionInput('create', given)
      const { subscription, payment } = await makeSubscription(input, context)
      return { subscription: await listed(subscription, context), payment }
    },
    cancel: async (id, given = {}) => {
      const context = await contextOf('cancel')
      const input = readSubscriptionInput('cancel', given)
      return listed(await cancelNowOrLater(id, input, context), context)
    },
    pause: async (id, given = {}) => {
      const context = await contextOf('pause')
      const input = readSubscriptionInput('pause', given)
      return listed(await pauseNowOrLater(id, input, context), context)
    },
    resume: async (id) => {
      const context = await contextOf('resume')
      return listed(await resume(id, context), context)
    },
    change: async (id, given) => {
      const context = await contextOf('change')
      const input = readSubscriptionInput('change', given)
      return listed(await change(id, input, context), context)
    },
    pay: async (id, given = {}) => {
      const context = await contextOf('pay')
      return pay(id, readSubscriptionInput('pay', given), context)
    },
    sync: async (id) => {
      const context = await contextOf('sync')
      return listed(await syncNow(id, context), context)
    },
  }
}

type Reads = Pick<SubscriptionOperations, 'get' | 'list' | 'access' | 'bill' | 'due'>

function reads(runtime: Runtime): Reads {
  const open = async (what: string) => {
    const db = await handle(runtime, `billing.subscriptions.${what}`)
    const { processing } = await runtime.context()
    return { db, processing }
  }
  return {
    get: async (id) => {
      const { db, processing } = await open('get')
      return withUuid(id, (known) => readDetails(db, known, processing))
    },
    list: async (query = {}) => {
      const { db, processing } = await open('list')
      return pageOfSubscriptions(db, checked(subscriptionsQuery, query), processing)
    },
    access: async (payable, options = {}) => {
      const { db, processing } = await open('access')
      return givesAccess(db, readAccess(payable, options), processing)
    },
    bill: async (id) => {
      const { db, processing } = await open('bill')
      return withUuid(id, (known) => readBill(db, known, processing))
    },
    due: async (query = {}) => {
      const { db, processing } = await open('due')
      const { until = await processing.subscriptionTime(db), ...rest } = checked(dueQuery, query)
      return listedSubscriptions(db, await listDueSubscriptions(db, { ...rest, until }), processing)
    },
  }
}

type Upkeep = Pick<SubscriptionOperations, 'runDue' | 'hold' | 'release'>

function upkeep(runtime: Runtime): Upkeep {
  return {
    runDue: async (options = {}) => {
      const context = await entitled(runtime, 'billing.subscriptions.runDue')
      const { chargesAtOnce: lanes } = runtime.settings.subscriptions
      const done = await runDueSubscriptions(context, { ...options, lanes })
      await moveDueWindows(context, options.signal)
      return done
    },
    hold: async (given) => {
      const { reason } = readSubscriptionInput('hold', { reason: given })
      await holdCharges(await handle(runtime, 'billing.subscriptions.hold'), reason)
    },
    release: async () => releaseCharges(await handle(runtime, 'billing.subscriptions.release')),
  }
}

/** As it stands by now: its payment may have been decided meanwhile. */
async function listed(
  subscription: Subscription,
  { processing }: SubscriptionContext,
): Promise<ListedSubscription> {
  const { db } = processing.database
  const current = (await findSubscription(db, subscription.id)) ?? subscription
  const [one] = await listedSubscriptions(db, [current], processing)
  if (one === undefined) throw new Error('one subscription is listed as one')
  return one
}
