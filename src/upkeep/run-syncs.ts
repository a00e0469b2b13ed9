import { setTimeout as pause } from 'node:timers/promises'
import {
  takeDueSubscriptions,
  type DueOrder,
  type SubscriptionLease,
} from '../database/due-subscriptions.ts'
import { isPassing } from '../database/failure.ts'
import { minutes, seconds, type Duration } from '../kernel/duration.ts'
import { isQuittanceError } from '../kernel/errors.ts'
import type { MoneyContext } from '../money/context.ts'
import { syncLeased, type Synced } from '../money/sync-subscription.ts'
import { createChargePace } from './charge-pace.ts'
import { repeat } from './repeat.ts'

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

/** The syncs of one process. */
interface Runner {
  /** Takes what is due, as much as there is room for. How long until more may be. */
  look(): Promise<Duration | undefined>
  readonly underWay: ReadonlySet<Promise<void>>
  readonly begun: number
}

/** What a provider has not answered since it last did. */
interface Silence {
  unanswered: number
  restsUntil: Duration
}

function createRunner(context: MoneyContext, lanes: number): Runner {
  const { database, gateways, newId, subscriptionTime } = context.processing
  const perMinute = (name: string) =>
    gateways.find(name)?.gateway.pollsPerMinute ?? usualReadsPerMinute
  const pace = createChargePace(perMinute, { burst: lanes, now: () => performance.now() })
  const silences = new Map<string, Silence>()
  const resting = () =>
    [...silences].flatMap(([name, one]) => (one.restsUntil > performance.now() ? [name] : []))
  const underWay = new Set<Promise<void>>()
  let begun = 0
  const look = async () => {
    while (underWay.size < lanes) {
      const now = await subscriptionTime(database.db)
      const busy = pace.busy()
      const except = [...busy, ...resting()]
      const asked = { now, ours: context.now(), limit: 1, token: newId(), except }
      const take = async (order: DueOrder) => {
        const due = { ...asked, managedBy: 'provider', order } as const
        return (await takeDueSubscriptions(database.db, due))[0]
      }
      const order = turns[begun % turns.length] ?? 'longest'
      const lease = (await take(order)) ?? (order === 'longest' ? undefined : await take('longest'))
      if (lease === undefined) return busy.length === 0 ? undefined : (pace.wait() ?? 0)
      begun += 1
      pace.reserve(lease.gateway)
      const working = work(lease, context, silences).finally(() => underWay.delete(working))
      underWay.add(working)
    }
    return undefined
  }
  return {
    look,
    underWay,
    get begun() {
      return begun
    },
  }
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
  const runner = createRunner(context, lanes)
  try {
    while (signal?.aborted !== true) {
      const wait = await runner.look()
      if (wait === undefined && runner.underWay.size === 0) break
      await Promise.race([...runner.underWay, ...(wait === undefined ? [] : [pause(wait)])])
    }
  } finally {
    await Promise.all(runner.underWay)
  }
  return { steps: runner.begun }
}

const lookEvery: Duration = seconds(2)

/** Looks now, and ends after the syncs that are under way. */
export interface Syncs {
  wake(): void
  stop(): Promise<void>
}

/**
 * Asks providers about the subscriptions that they manage, for as long as the process runs; any
 * number of processes may. Without work it looks into an index every two seconds, or when it is woken.
 */
export function startSyncs(context: MoneyContext, { lanes = usualLanes }: SyncOptions = {}): Syncs {
  const runner = createRunner(context, lanes)
  const stopping = new AbortController()
  let woken = Promise.withResolvers<void>()
  const run = async () => {
    while (!stopping.signal.aborted) {
      const untilWoken = woken.promise
      const wait = await runner.look()
      await Promise.race([
        ...runner.underWay,
        untilWoken,
        sleep(wait ?? lookEvery, stopping.signal),
      ])
    }
  }
  const stop = repeat(lookEvery, context.processing.log, run)
  const wake = () => {
    woken.resolve()
    woken = Promise.withResolvers()
  }
  return {
    wake,
    stop: async () => {
      stopping.abort()
      await stop()
      await Promise.all(runner.underWay)
    },
  }
}

async function sleep(wait: Duration, signal: AbortSignal): Promise<void> {
  await pause(wait, undefined, { signal }).catch(() => {})
}
