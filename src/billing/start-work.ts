import type { Database } from '../database/connect.ts'
import { sumCounts } from '../database/counts.ts'
import { addPaymentKeys } from '../database/payment-keys.ts'
import { newUuid, randomFraction } from '../kernel/ids.ts'
import { registerListeners, warnOfShortNames } from '../listeners/listeners.ts'
import { createConnections } from '../outbound/connect.ts'
import { startForwarder, type Forwarder } from '../outbound/forwarder.ts'
import { startWorker, type LocalWorker } from '../worker/worker.ts'
import { days, hours, minutes } from '../kernel/duration.ts'
import type { Schedule } from '../queue/schedule.ts'
import { prune } from '../upkeep/prune.ts'
import { reconcileDue } from '../upkeep/reconcile.ts'
import { totalDays } from '../upkeep/total-days.ts'
import { repairEvents } from '../upkeep/repair-events.ts'
import { startSubscriptions } from '../upkeep/run-subscriptions.ts'
import { startSyncs } from '../upkeep/run-syncs.ts'
import { startPresence } from '../upkeep/start-presence.ts'
import { startMovingWindows } from '../usage/move-windows.ts'
import type { MoneyContext } from '../money/context.ts'
import { moneyContextOf } from './money-context.ts'
import { startUpkeep } from '../upkeep/start-upkeep.ts'
import type { Parts } from './parts.ts'
import type { ServiceSettings } from './settings.ts'
import type { WorkOptions } from './types.ts'

const mostLanes = 8
const embeddedLanes = 2
/** The pool's connections for taking work, deliveries and upkeep, besides the lanes. */
const sparedConnections = 2

/** Processes calls and deliveries, sweeps and runs schedules in this process. */
export async function startWork(
  parts: () => Promise<Parts>,
  { settings, options }: { readonly settings: ServiceSettings; readonly options: WorkOptions },
): Promise<LocalWorker> {
  const opened = await parts()
  const { open, queue, processing, feed } = opened
  const { database } = open
  const { log } = settings
  // Under `sync` this process is the only one that processes what the sweeper puts back.
  const idle = options.upkeepOnly === true && !queue.inline
  const worker = idle ? idleWorker() : await startProcessing(opened, options)
  const context = moneyContextOf({ processing, queue }, settings)
  const upkeep = startUpkeep({
    database,
    log,
    newId: newUuid,
    numbers: processing.numbers,
    scrub: processing.scrub,
    wake: () => worker.wake(),
    announce: () => queue.announce(),
    reviewsUnknownPayments: settings.reviewsUnknownPayments,
    schedules: [...housekeeping(database, settings), ...(idle ? [] : dispatching(context))],
  })
  const stopSubscriptions = idle
    ? async () => {}
    : startSubscriptions(context, { lanes: settings.subscriptions.chargesAtOnce })
  const syncs = idle ? undefined : startSyncs(context)
  const stopMovingWindows = startMovingWindows(context, log)
  const stopNumbering = feed.numberer.watch()
  const forwarder = idle ? undefined : startForwarding(opened, settings)
  return {
    ...worker,
    wake: (what) => {
      worker.wake(what)
      if (what === undefined || what === 'subscriptions') syncs?.wake()
    },
    stop: async () => {
      stopNumbering()
      await Promise.all([
        upkeep.stop(),
        stopSubscriptions(),
        syncs?.stop(),
        stopMovingWindows(),
        worker.stop(),
        forwarder?.stop(),
      ])
    },
  }
}

/** Events are dispatched by these, so only if this process has every listener. */
function dispatching(context: MoneyContext): readonly Schedule[] {
  return [
    {
      name: 'reconcile',
      every: minutes(1),
      retryAfter: minutes(1),
      run: (signal) => reconcileDue(context, signal),
    },
    {
      name: 'repair',
      every: minutes(1),
      retryAfter: minutes(1),
      run: async (_signal, lastRunAt) => {
        await repairEvents(context, lastRunAt)
      },
    },
  ]
}

/** What any process does, whatever its listeners. */
function housekeeping(
  database: Database,
  { log, retentionDays, keepKeysDays, forward, searchedMetadata }: ServiceSettings,
): readonly Schedule[] {
  return [
    {
      name: 'prune',
      every: days(1),
      offset: hours(3) + minutes(17),
      run: async (signal) => {
        const { keepAttemptsDays } = forward
        const kept = { retentionDays, keepKeysDays, keepAttemptsDays }
        await prune(database, { ...kept, log, signal })
      },
    },
    {
      name: 'counts',
      every: minutes(1),
      retryAfter: minutes(1),
      run: (_signal, lastRunAt) => sumCounts(database.db, lastRunAt),
    },
    {
      name: 'day totals',
      every: minutes(15),
      retryAfter: minutes(1),
      run: async (signal) => {
        await totalDays(database, { signal })
      },
    },
    {
      name: 'payment keys',
      every: minutes(1),
      retryAfter: minutes(1),
      run: (signal) => addPaymentKeys(database, searchedMetadata, signal),
    },
  ]
}

/** Others can count the worker until it ends, however it does. */
async function startProcessing(
  { processing, queue }: Parts,
  { queues }: WorkOptions,
): Promise<LocalWorker> {
  const { database, listeners, log } = processing
  await registerListeners(database.db, listeners)
  warnOfShortNames(listeners, log)
  const leave = await startPresence(processing)
  const starting = startWorker({ processing, queue, queues, lanes: lanesFor(database) })
  void starting.catch(leave)
  const worker = await starting
  const left = worker.ended.then(leave)
  const stop = async () => {
    await worker.stop()
    await left
  }
  return { ...worker, stop }
}

/** Each lane may hold a connection for as long as its listeners run. */
function lanesFor({ kind, pool }: Database): number {
  if (kind === 'embedded') return embeddedLanes
  return Math.max(1, Math.min(mostLanes, pool.options.max - sparedConnections))
}

/** Used if other processes do the processing. */
function idleWorker(): LocalWorker {
  const ended = Promise.withResolvers<Error | undefined>()
  return {
    wake: () => {},
    stop: async () => ended.resolve(undefined),
    ended: ended.promise,
  }
}

/** Sends to all endpoints that this process can send to. */
function startForwarding(
  { processing, feed }: Pick<Parts, 'processing' | 'feed'>,
  { forward, clock, queue }: ServiceSettings,
): Forwarder {
  return startForwarder({
    ...processing,
    feed,
    declared: forward.declared,
    connections: createConnections(forward.connect),
    random: randomFraction,
    now: clock,
    queue,
  })
}
