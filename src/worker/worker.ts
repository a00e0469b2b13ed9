import { seconds, type Duration } from '../kernel/duration.ts'
import { isQuittanceError } from '../kernel/errors.ts'
import type { HandOver } from '../queue/hand-over.ts'
import type { QueueConnection } from '../queue/queue.ts'
import { deferredEvents, outboxEvents, type LeasedEvent } from '../queue/deferred-events.ts'
import { deliveries } from '../queue/deliveries.ts'
import type { Lease, QueueRow, QueueTable } from '../leases/leased-table.ts'
import { anyAlone, takeRows } from '../leases/queue-rows.ts'
import { createBatches, eventBatches } from './batches.ts'
import { startCallLanes } from './call-lanes.ts'
import { createDeliver } from '../processing/deliver.ts'
import { noteUnended } from '../processing/fail-attempt.ts'
import { startLanes, type Lanes } from './lanes.ts'
import { requireAllListeners } from '../listeners/listeners.ts'
import type { ProcessingContext, Woken } from '../processing/context.ts'

/** A worker of this process. */
export interface Worker {
  /** Looks for work now. */
  wake(): void
  /** Takes no more work, finishes what it holds within a limit, and releases the rest. */
  stop(): Promise<void>
  /** Resolves with the error that stopped the worker for good, or without one after `stop`. */
  readonly ended: Promise<Error | undefined>
}

/** As the intake of its own process knows it. */
export interface LocalWorker extends Worker {
  wake: ProcessingContext['wake']
  /** Takes calls as they are stored; undefined: it processes none. */
  readonly handOver?: HandOver
}

export interface WorkerOptions {
  readonly processing: ProcessingContext
  readonly queue: QueueConnection
  /** Names of the queues to take from; all of them if left out. */
  readonly queues?: readonly string[] | undefined
  /** Transactions of calls open at the same time; of events; deliveries under way. */
  readonly lanes: number
}

/**
 * Deliveries, or events, under way at most, while listeners are quick; as many as `lanes` while they
 * are slow.
 */
const mostUnderWay = 200
const stopGrace: Duration = seconds(20)
const listenerCheckEvery: Duration = seconds(1)

/** What a kind of rows of a queue is handled with. */
interface QueueWork<Row extends QueueRow> {
  readonly table: QueueTable<Row>
  /** Never rejects. */
  handle(row: Row): Promise<unknown>
}

/**
 * Processes calls, deliveries and deferred events until it is stopped, or until this process lacks a
 * listener.
 */
export async function startWorker(options: WorkerOptions): Promise<LocalWorker> {
  const { processing, queues, lanes } = options
  const { database, log, newId } = processing
  const calls = startCallLanes(options)
  const lanesOf = <Row extends QueueRow>({ table, handle }: QueueWork<Row>) =>
    startLanes({
      database,
      log,
      newId,
      least: lanes,
      most: mostUnderWay,
      table,
      anyAlone: () => anyAlone(database.db, table),
      take: (take) =>
        takeRows(database.db, table, { ...take, queues, listeners: processing.listeners.keys() }),
      handle,
    })
  const deliveryLanes = lanesOf({ table: deliveries, handle: createDeliver(processing) })
  const eventLanesOf = (table: QueueTable<LeasedEvent>) => {
    const dispatch = createBatches(eventBatches, processing, lanes)
    const handle = (event: LeasedEvent) =>
      dispatch(event).catch((error: unknown) => noteUnended(processing, event, error))
    return lanesOf({ table, handle })
  }
  const deferredLanes = eventLanesOf(deferredEvents)
  const outboxLanes = eventLanesOf(outboxEvents)
  const everyLane = [calls, deliveryLanes, deferredLanes, outboxLanes]
  const wokenBy: Readonly<Record<Woken, readonly Pick<Lanes<Lease>, 'wake'>[]>> = {
    deliveries: [deliveryLanes],
    subscription_events: [{ wake: oncePerTurn(outboxLanes.wake) }],
    // Those who ask providers about subscriptions are woken elsewhere.
    subscriptions: [],
  }
  const wake = (what?: Woken) => {
    for (const one of what === undefined ? everyLane : wokenBy[what]) one.wake()
  }
  const everyQueue = queues === undefined
  // It announces calls alone.
  const unsubscribe = await options.queue.subscribe(calls.wake, { everyQueue })

  const ended = Promise.withResolvers<Error | undefined>()
  const checkListeners = async () => {
    const missing = await missingListener(processing)
    if (missing !== undefined) await stop(missing)
  }
  const check = setInterval(() => void checkListeners(), listenerCheckEvery)

  let stopped: Promise<void> | undefined
  const stop = (error?: Error) => {
    stopped ??= (async () => {
      clearInterval(check)
      await unsubscribe()
      await Promise.all(everyLane.map((one) => one.stop(stopGrace)))
      ended.resolve(error)
    })()
    return stopped
  }
  return { wake, stop: () => stop(), ended: ended.promise, handOver: calls }
}

/** One commit may wake them for each of many payments: they look once. */
function oncePerTurn(wake: () => void): () => void {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    setImmediate(() => {
      isDue = false
      wake()
    })
  }
}

/** Only a missing listener ends a worker; a database that is away will come back. */
async function missingListener(processing: ProcessingContext): Promise<Error | undefined> {
  try {
    await requireAllListeners(processing.database.db, processing.listeners)
    return undefined
  } catch (error) {
    return isQuittanceError(error) ? error : undefined
  }
}
