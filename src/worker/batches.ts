import { eventTypeOf } from '../events/dedup-key.ts'
import type { EventType } from '../events/catalogue.ts'
import type { Duration } from '../kernel/duration.ts'
import type { QueueRow, QueueTable } from '../leases/leased-table.ts'
import { returnRow } from '../leases/queue-rows.ts'
import { hasDirectListener } from '../listeners/dispatch-events.ts'
import { awaitingKey } from '../outcomes/waiting-calls.ts'
import type { ProcessingContext } from '../processing/context.ts'
import { dispatchDeferred, type DeferredEnd } from '../processing/deferred-events.ts'
import type { CallEnd } from '../processing/end-calls.ts'
import type { InterpretedCall } from '../processing/interpret-call.ts'
import { processInterpreted } from '../processing/process-calls.ts'
import { webhookCalls } from '../queue/calls.ts'
import { deferredEvents, type LeasedEvent } from '../queue/deferred-events.ts'
import { retryPassing } from '../queue/retry-passing.ts'
import { returnDelay } from '../queue/retry.ts'
import { gather } from './gather.ts'

/** Items in a batch at most; more make its transaction longer, not cheaper. */
const mostItems = 200
/** Each has a savepoint; beyond 64 per transaction PostgreSQL slows down for everybody. */
const mostWithListeners = 60
/** One transaction commits while the next fills; more would only make them smaller. */
const slotsWithoutListeners = 3
/** An item that waits longer for another one about the same payment would block its lane. */
const patience: Duration = 500
/** How long a transaction with listeners should take: it holds locks until its end. */
const paced: Duration = 100

/** What shares transactions. */
interface BatchKind<Item, End extends string> {
  readonly table: QueueTable
  /** Where an item has its lease. */
  rowOf(item: Item): QueueRow
  /** Payments that its transaction locks. */
  keysOf(item: Item): readonly string[]
  /** Of the events that it may fire. */
  eventTypesOf(item: Item): readonly EventType[]
  /** The end of each, in their order; `left`: it goes in a transaction of its own. Never rejects. */
  process(items: readonly Item[], context: ProcessingContext): Promise<readonly (End | 'left')[]>
  /** The end of an item that goes back to the queue. */
  readonly returned: End
}

/** Calls that are interpreted. */
export const callBatches: BatchKind<InterpretedCall, CallEnd> = {
  table: webhookCalls,
  rowOf: ({ call }) => call,
  keysOf: paymentsOf,
  eventTypesOf: ({ outcomes }) => outcomes.flatMap((outcome) => eventTypeOf(outcome) ?? []),
  process: processInterpreted,
  returned: 'returned',
}

/** Deferred events of every kind. Events of the outbox lock no payment. */
export const eventBatches: BatchKind<LeasedEvent, DeferredEnd> = {
  table: deferredEvents,
  rowOf: (event) => event,
  keysOf: ({ outbox, payment_id: id }) => (outbox || id === null ? [] : [id]),
  // A row of a newer version is not taken.
  eventTypesOf: ({ type }) => [type as EventType],
  process: dispatchDeferred,
  returned: 'ended',
}

/**
 * Gathers items into shared transactions. `connections` limits how many listeners may hold open at
 * once; a slow listener holds up its own transaction only.
 */
export function createBatches<Item, End extends string>(
  kind: BatchKind<Item, End>,
  context: ProcessingContext,
  connections: number,
): (item: Item) => Promise<End> {
  const shared = {
    keysOf: kind.keysOf,
    goesAlone: (item: Item) => hasFailed(kind.rowOf(item)),
    patience,
    overdue: async (item: Item) => {
      await returnOverdue(kind.table, kind.rowOf(item), context)
      return kind.returned
    },
  }
  const process = (batch: readonly Item[]) => processBatch(kind, batch, context)
  const together = gather({
    ...shared,
    slots: Math.min(slotsWithoutListeners, connections),
    most: () => mostItems,
    run: process,
  })
  const size = createBatchSize()
  const withListeners = gather({
    ...shared,
    slots: connections,
    most: () => size.now,
    run: (batch: readonly Item[]) => size.measured(() => process(batch)),
  })
  const hasListeners = (item: Item) =>
    kind.eventTypesOf(item).some((type) => hasDirectListener(context.listeners, { type }))
  return (item) => (hasListeners(item) ? withListeners(item) : together(item))
}

/** How the items ended, except those that are left. */
async function processBatch<Item, End extends string>(
  kind: BatchKind<Item, End>,
  items: readonly Item[],
  context: ProcessingContext,
): Promise<ReadonlyMap<Item, End>> {
  const ends = await kind.process(items, context)
  const ended = new Map<Item, End>()
  for (const [index, item] of items.entries()) {
    const end = ends[index] ?? 'left'
    if (end !== 'left') ended.set(item, end)
  }
  return ended
}

/** Batches grow while listeners are quick and shrink as soon as they are slow. */
function createBatchSize() {
  let now = 1
  return {
    get now() {
      return now
    },
    async measured<T>(run: () => Promise<T>): Promise<T> {
      const begun = performance.now()
      try {
        return await run()
      } finally {
        const took = performance.now() - begun
        if (took < paced / 2) now = Math.min(mostWithListeners, now * 2)
        else if (took > paced) now = Math.max(1, now / 2)
      }
    },
  }
}

/** What failed before may fail again: not at the expense of others. */
function hasFailed({ attempts, leases_lost: lost, times_returned: returned }: QueueRow): boolean {
  return attempts + lost + returned > 0
}

/** Another item about the same payment takes long: no attempt is used. */
async function returnOverdue(
  table: QueueTable,
  row: QueueRow,
  { database, random }: ProcessingContext,
): Promise<void> {
  const after = returnDelay(row.times_returned, random)
  await retryPassing(() => returnRow(database.db, table, { lease: row, after }), random)
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
