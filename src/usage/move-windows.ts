import { insertQuotaEvents } from '../database/deferred-events.ts'
import { lockDueCounters, readWindowFacts, updateCounters } from '../database/usage-counters.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'
import type { WindowFacts } from '../subscriptions/quota-window.ts'
import { inWindowOf, nextLook } from '../subscriptions/quota-window.ts'
import { repeat } from '../upkeep/repeat.ts'
import type { UsageContext } from './flush-usage.ts'

const batchRows = 200
const lookEvery: Duration = seconds(2)

/**
 * Moves the windows that are over and that nobody has recorded in since, so that
 * SubscriptionQuotaReset fires in time; any number of processes may. Returns how many have moved.
 */
export async function moveDueWindows(context: UsageContext, signal?: AbortSignal): Promise<number> {
  let moved = 0
  for (;;) {
    const batch = await moveBatch(context)
    moved += batch.moved
    if (batch.looked < batchRows || signal?.aborted === true) return moved
  }
}

/** For as long as the process runs. Returns what ends it. */
export function startMovingWindows(context: UsageContext, log: Log): () => Promise<void> {
  const stopping = new AbortController()
  const stop = repeat(lookEvery, log, async () => {
    await moveDueWindows(context, stopping.signal)
  })
  return async () => {
    stopping.abort()
    await stop()
  }
}

const unknown: WindowFacts = { period: null, hasEnded: true }

/** Subscriptions are only read: whoever holds counters locks none. */
async function moveBatch({ processing, queue }: UsageContext) {
  const { database, subscriptionTime, newId, wake } = processing
  const batch = await database.transaction(async ({ db }) => {
    const now = await subscriptionTime(db)
    const counters = await lockDueCounters(db, { now, limit: batchRows })
    if (counters.length === 0) return { looked: 0, moved: 0 }
    const ids = [...new Set(counters.map(({ subscriptionId }) => subscriptionId))]
    const facts = await readWindowFacts(db, ids, now)
    const moved = counters.map((counter) => {
      const known = facts.get(counter.subscriptionId) ?? unknown
      const { counter: current, events } = inWindowOf(counter, known, now)
      return { counter: { ...current, lookAt: nextLook(current, known, now) }, events }
    })
    await updateCounters(
      db,
      moved.map(({ counter }) => counter),
    )
    const events = moved.flatMap((one) => one.events)
    await insertQuotaEvents(db, events, { cause: 'service', queue, newId })
    return { looked: counters.length, moved: events.length }
  })
  if (batch.moved > 0) wake('subscription_events')
  return batch
}
