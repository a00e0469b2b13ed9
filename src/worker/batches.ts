import { eventTypeOf } from '../events/dedup-key.ts'
import type { Duration } from '../kernel/duration.ts'
import { awaitingKey } from '../outcomes/waiting-calls.ts'
import { webhookCalls, type LeasedCall } from '../queue/calls.ts'
import { returnRow } from '../leases/queue-rows.ts'
import { retryPassing } from '../queue/retry-passing.ts'
import { returnDelay } from '../queue/retry.ts'
import { gather } from './gather.ts'
import type { ProcessingContext } from '../processing/context.ts'
import type { CallEnd } from '../processing/end-calls.ts'
import type { InterpretedCall } from '../processing/interpret-call.ts'
import { processInterpreted } from '../processing/process-calls.ts'
import { hasDirectListener } from '../listeners/dispatch-events.ts'

/** Calls in a batch at most; more make its transaction longer, not cheaper. */
const mostCalls = 200
/** Each has a savepoint; beyond 64 per transaction PostgreSQL slows down for everybody. */
const mostWithListeners = 60
/** One transaction commits while the next fills; more would only make them smaller. */
const slotsWithoutListeners = 3
/** A call that waits longer for another one about the same payment would block its lane. */
const patience: Duration = 500
/** How long a transaction with listeners should take: it holds locks until its end. */
const paced: Duration = 100

/** Processes an interpreted call, together with others. */
export type ProcessInBatches = (call: InterpretedCall) => Promise<CallEnd>

/**
 * Gathers interpreted calls into shared transactions. `connections` limits how many listeners may
 * hold open at once; a slow listener holds up its own transaction only.
 */
export function createBatches(context: ProcessingContext, connections: number): ProcessInBatches {
  const shared = {
    keysOf: paymentsOf,
    goesAlone,
    patience,
    overdue: ({ call }: InterpretedCall) => returnOverdue(call, context),
  }
  const together = gather({
    ...shared,
    slots: Math.min(slotsWithoutListeners, connections),
    most: () => mostCalls,
    run: (batch: readonly InterpretedCall[]) => processBatch(batch, context),
  })
  const pace = createPace()
  const withListeners = gather({
    ...shared,
    slots: connections,
    most: () => pace.size,
    run: (batch: readonly InterpretedCall[]) => pace.measured(() => processBatch(batch, context)),
  })
  return (call) => (hasListeners(call, context) ? withListeners(call) : together(call))
}

/** How the calls ended, except those that are left. */
async function processBatch(
  calls: readonly InterpretedCall[],
  context: ProcessingContext,
): Promise<ReadonlyMap<InterpretedCall, CallEnd>> {
  const ends = await processInterpreted(calls, context)
  const ended = new Map<InterpretedCall, CallEnd>()
  for (const [index, call] of calls.entries()) {
    const end = ends[index] ?? 'left'
    if (end !== 'left') ended.set(call, end)
  }
  return ended
}

/** Batches grow while listeners are quick and shrink as soon as they are slow. */
function createPace() {
  let size = 1
  return {
    get size() {
      return size
    },
    async measured<T>(run: () => Promise<T>): Promise<T> {
      const begun = performance.now()
      try {
        return await run()
      } finally {
        const took = performance.now() - begun
        if (took < paced / 2) size = Math.min(mostWithListeners, size * 2)
        else if (took > paced) size = Math.max(1, size / 2)
      }
    },
  }
}

function hasListeners({ outcomes }: InterpretedCall, { listeners }: ProcessingContext): boolean {
  return outcomes.some((outcome) => {
    const type = eventTypeOf(outcome)
    // Stryker disable next-line ConditionalExpression: nobody listens to what has no type
    return type !== undefined && hasDirectListener(listeners, { type })
  })
}

/** A call that failed before may fail again: not at the expense of others. */
function goesAlone({ call }: InterpretedCall): boolean {
  return call.attempts + call.leases_lost + call.times_returned > 0
}

/** Another call about the same payment takes long: no attempt is used. */
async function returnOverdue(
  call: LeasedCall,
  { database, random }: ProcessingContext,
): Promise<CallEnd> {
  const after = returnDelay(call.times_returned, random)
  await retryPassing(() => returnRow(database.db, webhookCalls, { lease: call, after }), random)
  return 'returned'
}

function paymentsOf({ call, outcomes }: InterpretedCall): readonly string[] {
  return outcomes.flatMap((outcome) => {
    if (outcome.payment === undefined) return []
    const { payment } = outcome
    const claimed = outcome.type === 'payment' && outcome.claimed
    return [payment, ...(claimed ? [{ id: claimed.id }] : [])].map((name) =>
      awaitingKey(call.gateway, name),
    )
  })
}
