import {
  takeDueSubscriptions,
  type DueOrder,
  type SubscriptionLease,
} from '../queue/due-subscriptions.ts'
import { isPassing } from '../database/failure.ts'
import { minutes, type Duration } from '../kernel/duration.ts'
import { isQuittanceError } from '../kernel/errors.ts'
import type { MoneyContext } from '../money/context.ts'
import { syncLeased, type Synced } from '../money/sync-subscription.ts'
import { createGatewayPace } from './gateway-pace.ts'
import {
  createLanes,
  startLanes,
  workUntilNoneIsDue,
  type Lanes,
  type RunningLanes,
} from './lanes.ts'

/** Providers that a process asks at the same time. */
const usualLanes = 4
/** Of one provider, in one process. */
const usualReadsPerMinute = 60
/**
 * Whose turn it is, again and again: what has just changed, or keeps a customer waiting, never waits
 * for all that are due on the first of a month, nor they for ever.
 */
const turns: readonly DueOrder[] = ['wanted', 'awaited', 'wanted', 'longest']
/** After this many in a row without an answer, a provider is left alone for a while. */
const mostUnanswered = 3
const restAfterUnanswered: Duration = minutes(1)

export interface SyncOptions {
  readonly lanes?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** What a provider has not answered since it last did. */
interface Silence {
  unanswered: number
  restsUntil: Duration
}

function syncLanes(context: MoneyContext, lanes: number): Lanes {
  const { database, gateways, newId, subscriptionTime } = context.processing
  const perMinute = (name: string) =>
    gateways.find(name)?.gateway.pollsPerMinute ?? usualReadsPerMinute
  const pace = createGatewayPace(perMinute, { burst: lanes })
  const silences = new Map<string, Silence>()
  const resting = () =>
    [...silences].flatMap(([name, one]) => (one.restsUntil > performance.now() ? [name] : []))
  return createLanes({
    lanes,
    pace,
    take: async ({ busy, begun }) => {
      const now = await subscriptionTime(database.db)
      const except = [...busy, ...resting()]
      const asked = { now, ours: context.now(), limit: 1, token: newId(), except }
      const take = async (order: DueOrder) => {
        const due = { ...asked, managedBy: 'provider', order } as const
        return takeDueSubscriptions(database.db, due)
      }
      const order = turns[begun % turns.length] ?? 'longest'
      const taken = await take(order)
      return taken.length > 0 || order === 'longest' ? taken : take('longest')
    },
    work: (leases) =>
      leases.map((lease) => {
        pace.reserve(lease.gateway)
        return work(lease, context, silences)
      }),
  })
}

/** Never rejects: what fails is due again once its lease has run out, and logged. */
async function work(
  lease: SubscriptionLease,
  context: MoneyContext,
  silences: Map<string, Silence>,
): Promise<void> {
  const { log } = context.processing
  try {
    note(lease, await syncLeased(lease, context), silences)
  } catch (error) {
    const entry = { err: error, subscription: lease.id }
    if (isPassing(error)) log.warn(entry, 'a subscription was not synced; it is due again')
    else log.error(entry, 'the sync of a subscription failed; it is due again')
  }
}

function note(
  { gateway }: SubscriptionLease,
  synced: Synced,
  silences: Map<string, Silence>,
): void {
  const isUnanswered =
    synced.kind === 'failed' &&
    isQuittanceError(synced.error) &&
    synced.error.code === 'provider_unreachable'
  if (!isUnanswered) {
    silences.delete(gateway)
    return
  }
  const silence = silences.get(gateway) ?? { unanswered: 0, restsUntil: 0 }
  silence.unanswered += 1
  if (silence.unanswered >= mostUnanswered) {
    silence.restsUntil = performance.now() + restAfterUnanswered
  }
  silences.set(gateway, silence)
}

/** Asks about all that is due until nothing is. */
export async function runDueSyncs(
  context: MoneyContext,
  { lanes = usualLanes, signal }: SyncOptions = {},
): Promise<{ readonly steps: number }> {
  const syncing = syncLanes(context, lanes)
  await workUntilNoneIsDue(syncing, signal)
  return { steps: syncing.begun }
}

/**
 * Asks providers about the subscriptions that they manage, for as long as the process runs; any
 * number of processes may.
 */
export function startSyncs(
  context: MoneyContext,
  { lanes = usualLanes }: SyncOptions = {},
): RunningLanes {
  return startLanes(syncLanes(context, lanes), context.processing.log)
}
