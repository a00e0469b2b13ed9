import { eventTypeOf } from '../events/dedup-key.ts'
import type { Duration } from '../kernel/duration.ts'
import { returnLease, type LeasedCall } from '../queue/lease.ts'
import { returnDelay } from '../queue/retry.ts'
import { awaitingKey } from '../outcomes/awaiting.ts'
import { gather } from './gather.ts'
import type { CallResult, InterpretedCall, Processing, Settle } from '../processing/context.ts'
import { settleBatch } from '../processing/settle-calls.ts'
import { hasDirectListener } from '../listeners/tell-listeners.ts'

/** Calls in a batch at most; more make its transaction longer, not cheaper. */
const mostCalls = 100
/** Each has a savepoint; PostgreSQL keeps 64 of a transaction at hand, more slow down everybody. */
const mostWithListeners = 60
/** One transaction commits while the next is being filled; more would only make them smaller. */
const slotsWithoutListeners = 2
/** What waits longer for a call about the same payment would keep its lane from all others. */
const patience: Duration = 500
/** What a transaction with listeners in it should take: what it holds waits for its end. */
const paced: Duration = 50

/**
 * Settles calls in shared transactions. `connections` bounds how many listeners may hold open at
 * once; a slow one holds up its own transaction only.
 */
export function settleInBatches(processing: Processing, connections: number): Settle {
  const shared = {
    keysOf: paymentsOf,
    goesAlone,
    patience,
    turnAway: ({ call }: InterpretedCall) => turnAway(call, processing),
  }
  const together = gather({
    ...shared,
    slots: Math.min(slotsWithoutListeners, connections),
    most: () => mostCalls,
    run: (batch: readonly InterpretedCall[]) => settleBatch(batch, processing),
  })
  const pace = createPace()
  const withListeners = gather({
    ...shared,
    slots: connections,
    most: () => pace.size,
    run: (batch: readonly InterpretedCall[]) => pace.measured(() => settleBatch(batch, processing)),
  })
  return (interpreted) =>
    hasListeners(interpreted, processing) ? withListeners(interpreted) : together(interpreted)
}

/** Nobody knows how long listeners take: a batch grows while they are quick, and shrinks at once. */
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
        else if (took > paced) size = Math.max(1, Math.floor(size / 2))
      }
    },
  }
}

function hasListeners({ outcomes }: InterpretedCall, { listeners }: Processing): boolean {
  return outcomes.some((outcome) => {
    const type = eventTypeOf(outcome)
    return type !== undefined && hasDirectListener(listeners, { type })
  })
}

/** What failed before may fail again: not at the expense of others. */
function goesAlone({ call }: InterpretedCall): boolean {
  return call.attempts + call.leases_lost + call.times_returned > 0
}

/** Another call about the same payment takes long: nobody's fault. */
async function turnAway(call: LeasedCall, processing: Processing): Promise<CallResult> {
  const after = returnDelay(call.times_returned, processing.random)
  await returnLease(processing.database.db, 'billing.webhook_calls', { lease: call, after })
  return 'returned'
}

function paymentsOf({ call, outcomes }: InterpretedCall): readonly string[] {
  return outcomes.flatMap((outcome) => {
    if (outcome.type === 'ignored' || outcome.payment === undefined) return []
    const { payment } = outcome
    const claimed = outcome.type === 'payment' && outcome.claimed
    return [payment, ...(claimed ? [{ id: claimed.id }] : [])].map((name) =>
      awaitingKey(call.gateway, name),
    )
  })
}
