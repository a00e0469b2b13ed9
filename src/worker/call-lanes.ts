import { createDeadlines } from '../kernel/deadlines.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import { afterFailure } from '../processing/after-rollback.ts'
import { inCallSpan } from '../processing/call-span.ts'
import type { ProcessingContext } from '../processing/context.ts'
import type { CallEnd } from '../processing/end-calls.ts'
import type { InterpretedCall } from '../processing/interpret-call.ts'
import { interpret } from '../processing/process-calls.ts'
import { webhookCalls, type LeasedCall } from '../queue/calls.ts'
import type { HandOver } from '../queue/hand-over.ts'
import { anyAlone, takeRows } from '../leases/queue-rows.ts'
import { callBatches, createBatches } from './batches.ts'
import { startLanes, type Lanes, type LaneTake } from './lanes.ts'

export interface CallLanesOptions {
  readonly processing: ProcessingContext
  /** Names of the queues to take from; all of them if left out. */
  readonly queues?: readonly string[] | undefined
  /** Transactions of calls open at the same time. */
  readonly lanes: number
}

export interface CallLanes extends Pick<Lanes<LeasedCall>, 'wake' | 'stop'>, HandOver {}

/** Calls under way at most, gathered into batches: as many as `lanes` when they are slow. */
const mostUnderWay = 400

/**
 * Takes calls and processes them. Gateways whose calls take long to interpret, for now, have lanes
 * of their own: a provider that answers slowly must not hold up the callbacks of all others.
 */
export function startCallLanes({ processing, queues, lanes }: CallLanesOptions): CallLanes {
  const { database, log, newId } = processing
  // A newer version may know gateways that this one does not.
  const known = processing.gateways.list().map(({ gateway }) => gateway.name)
  const slow = createSlowGateways(() => slowLanes.wake())
  const isQuick = (gateway: string) => !slow.names().includes(gateway)
  const shared = {
    database,
    log,
    newId,
    least: lanes,
    table: webhookCalls,
    anyAlone: () => anyAlone(database.db, webhookCalls, known),
    handle: handlerOf(processing, {
      slow,
      processInBatches: createBatches(callBatches, processing, lanes),
    }),
  } as const
  const takeOf = async (gateways: readonly string[], take: LaneTake) => {
    if (gateways.length === 0) return []
    const listeners = processing.listeners.keys()
    return takeRows(database.db, webhookCalls, { ...take, queues, gateways, listeners })
  }
  const quickLanes = startLanes({
    ...shared,
    most: mostUnderWay,
    take: (take) => takeOf(known.filter(isQuick), take),
  })
  const slowLanes = startLanes({
    ...shared,
    most: lanes,
    take: (take) => takeOf(slow.names(), take),
    // All of them are slow: each keeps its lane, so that the provider gets no more requests at
    // once.
    handle: (call) => shared.handle(call, () => {}),
  })
  const both = [quickLanes, slowLanes]
  return {
    room: quickLanes.room,
    give: quickLanes.give,
    release: quickLanes.release,
    wants: ({ gateway, queue }) =>
      (queues === undefined || queues.includes(queue)) &&
      known.includes(gateway) &&
      isQuick(gateway),
    wake: () => both.forEach((one) => one.wake()),
    stop: async (grace) => {
      await Promise.all(both.map((one) => one.stop(grace)))
    },
  }
}

interface HandlerParts {
  readonly slow: SlowGateways
  /** Processes an interpreted call, together with others. */
  processInBatches(call: InterpretedCall): Promise<CallEnd>
}

/** One call, until it has ended; never rejects. */
function handlerOf(
  processing: ProcessingContext,
  { slow, processInBatches }: HandlerParts,
): (call: LeasedCall, onSlow: () => void) => Promise<void> {
  return async (call, onSlow) => {
    try {
      await inCallSpan(call, processing, async (span) => {
        const saying = interpret(call, processing, span)
        const interpreted = await slow.watch(call.gateway, saying, onSlow)
        return 'error' in interpreted
          ? afterFailure(interpreted, processing)
          : processInBatches(interpreted)
      })
    } catch (error) {
      processing.log.error({ err: error, call: call.id }, 'lease left to run out')
    }
  }
}

/** Gateways whose callbacks take long to interpret for now, because they ask a slow provider. */
interface SlowGateways {
  /**
   * Watches an interpretation: one that takes long puts its gateway among the slow ones, and
   * `onSlow` is called.
   */
  watch<T>(gateway: string, interpreting: Promise<T>, onSlow: () => void): Promise<T>
  names(): readonly string[]
}

const slowAfter: Duration = seconds(1)
/** How long a gateway stays among them after its last slow interpretation. */
const slowFor: Duration = seconds(30)

/** `onNew` is called when a gateway becomes slow. */
export function createSlowGateways(onNew: () => void): SlowGateways {
  const until = new Map<string, number>()
  const mark = (gateway: string) => {
    const isNew = !until.has(gateway)
    until.set(gateway, performance.now() + slowFor)
    if (isNew) onNew()
  }
  const deadlines = createDeadlines<() => void>(slowAfter, (expire) => expire())
  return {
    async watch(gateway, interpreting, onSlow) {
      const expire = () => {
        mark(gateway)
        onSlow()
      }
      const deadline = deadlines.add(expire)
      try {
        return await interpreting
      } finally {
        deadlines.delete(deadline)
      }
    },
    names() {
      const now = performance.now()
      for (const [gateway, end] of until) if (end <= now) until.delete(gateway)
      return [...until.keys()]
    },
  }
}
