import { sql, type Kysely } from 'kysely'
import type { Transaction } from '../database/connect.ts'
import { named } from '../database/named-statements.ts'
import type { Tables } from '../database/tables.ts'
import type { BillingEvent } from '../events/catalogue.ts'
import type { QuittanceError } from '../kernel/errors.ts'
import type { NewId } from '../kernel/ids.ts'
import { claimEvents, type SourceClaims } from './claim-events.ts'
import { newGuard, removeGuard, type CommitGuard } from './commit-guard.ts'
import { markDispatched } from './event-spans.ts'
import type { Addressed, ListenerRegistry } from './listeners.ts'
import {
  brokeTransaction,
  isTransactionLost,
  runListeners,
  setSavepoint,
  type DispatchContext,
  type Dispatched,
  type WonEvents,
} from './run-listeners.ts'

/** Of several sources; `left`: its claims are for a transaction of its own. */
export type DispatchedTogether = Dispatched | { readonly kind: 'left' }

/** A source, and what became of its claims. */
export type DispatchedSource<Source extends SourceClaims> = Source & {
  readonly dispatched: DispatchedTogether
}

const left = { kind: 'left' } as const

/** After this long, slow listeners hold up nobody else: the rest of the sources is left. */
const sharedFor = 500

/**
 * Claims the events of several sources and runs their listeners in the transaction, source by
 * source, each behind a savepoint and for a limited time. The claims of a source that fails, or is
 * left, are taken back in the same transaction; a guard keeps listeners from committing any. Throws
 * if the transaction itself is lost: see `lostByListener`.
 */
export async function dispatchEvents<Source extends SourceClaims>(
  transaction: Transaction,
  sources: readonly Source[],
  context: DispatchContext,
): Promise<readonly DispatchedSource<Source>[]> {
  const { listeners, newId } = context
  const claiming = withoutRepeated(sources)
  const guard = sources.some((one) => hasDirectClaim(one, listeners)) ? newGuard(newId) : undefined
  const won = await claimEvents(transaction.db, [...claiming], { listeners, guard })
  const turns = sources.map((source) => ({
    source,
    events: claiming.has(source)
      ? source.claims.map(({ eventId }) => won.get(eventId)).filter((event) => event !== undefined)
      : undefined,
  }))
  const dispatched = await runInTurns(transaction, turns, context)
  await keepClaims(transaction, { dispatched, won: [...won.keys()], guard }, context)
  return dispatched
}

/** The same for one source, which is never left. */
export async function dispatchAlone(
  transaction: Transaction,
  source: SourceClaims,
  context: DispatchContext,
): Promise<Dispatched> {
  const [ended] = await dispatchEvents(transaction, [source], context)
  // Stryker disable next-line all: the first source is never left
  if (ended === undefined || ended.dispatched.kind === 'left') throw new Error('a source was left')
  return ended.dispatched
}

/** Whether listeners in the transaction hear of the event. */
export function hasDirectListener(listeners: ListenerRegistry, event: Addressed): boolean {
  return listeners.of(event).some(({ queued }) => !queued)
}

export function hasQueuedListener(listeners: ListenerRegistry, event: Addressed): boolean {
  return listeners.of(event).some(({ queued }) => queued)
}

function hasDirectClaim({ claims }: SourceClaims, listeners: ListenerRegistry): boolean {
  return claims.some((claim) => hasDirectListener(listeners, claim))
}

/**
 * A source is left if one before it claims the same event: if that one fails, the event is this
 * one's.
 */
function withoutRepeated(sources: readonly SourceClaims[]): ReadonlySet<SourceClaims> {
  const keys = new Set<string>()
  const kept = new Set<SourceClaims>()
  for (const source of sources) {
    if (source.claims.every(({ dedupKey }) => !keys.has(dedupKey))) kept.add(source)
    for (const { dedupKey } of source.claims) keys.add(dedupKey)
  }
  return kept
}

interface Turn<Source> {
  readonly source: Source
  /** Those that it has won; undefined: it is left. */
  readonly events: readonly BillingEvent[] | undefined
}

async function runInTurns<Source extends SourceClaims>(
  transaction: Transaction,
  turns: readonly Turn<Source>[],
  context: DispatchContext,
): Promise<readonly DispatchedSource<Source>[]> {
  const { listeners, spans } = context
  const end = performance.now() + sharedFor
  let hasSavepoint = false
  let isOver = false
  const runOne = async (won: WonEvents, index: number) => {
    if (!hasSavepoint) await setSavepoint(transaction)
    hasSavepoint = true
    try {
      const dispatched = await runListeners(transaction, won, context)
      isOver = performance.now() > end || dispatched.leavesTrace
      return dispatched
    } catch (error) {
      throw isTransactionLost(error) ? lost(error, index) : error
    }
  }
  const takeTurn = async ({ source: { source }, events }: Turn<Source>, index: number) => {
    if (events === undefined) return left
    if (!events.some((event) => hasDirectListener(listeners, event))) {
      if (spans !== undefined) await markDispatched(spans, source, events)
      return { kind: 'dispatched', events, afterCommit: [] } as const
    }
    return isOver ? left : runOne({ source, events }, index)
  }
  const dispatched: DispatchedSource<Source>[] = []
  for (const [index, turn] of turns.entries()) {
    dispatched.push({ ...turn.source, dispatched: await takeTurn(turn, index) })
  }
  return dispatched
}

interface Claimed {
  readonly dispatched: readonly DispatchedSource<SourceClaims>[]
  /** Ids of all events that were claimed. */
  readonly won: readonly string[]
  readonly guard: CommitGuard | undefined
}

/** From here on, nothing of a listener's runs in the transaction. */
async function keepClaims(
  { db }: Transaction,
  { dispatched, won, guard }: Claimed,
  context: DispatchContext,
): Promise<void> {
  const kept = dispatched.flatMap(({ source: { queue }, dispatched: one }) =>
    one.kind === 'dispatched' ? [{ events: one.events, queue }] : [],
  )
  const keptIds = new Set(kept.flatMap(({ events }) => events.map(({ id }) => id)))
  const undone = won.filter((id) => !keptIds.has(id))
  if (guard !== undefined && !(await removeGuard(db, guard, undone))) {
    throw lost(brokeTransaction(), undefined)
  }
  await queueDeliveries(db, kept, context)
}

interface DispatchedFrom {
  readonly events: readonly BillingEvent[]
  readonly queue: string
}

/** Writes the deliveries of events to their queued listeners. */
export async function queueDeliveries(
  db: Kysely<Tables>,
  dispatched: readonly DispatchedFrom[],
  { listeners, newId }: { readonly listeners: ListenerRegistry; readonly newId: NewId },
): Promise<void> {
  const rows = dispatched.flatMap(({ events, queue }) =>
    events.flatMap((event) =>
      listeners
        .of(event)
        .filter(({ queued }) => queued)
        .map(({ name }) => ({ eventId: event.id, listener: name, queue })),
    ),
  )
  if (rows.length === 0) return
  await sql`${named('queue-deliveries')}
    insert into billing.deliveries (id, event_id, listener, queue)
    select * from unnest(
      ${rows.map(() => newId())}::uuid[], ${rows.map(({ eventId }) => eventId)}::uuid[],
      ${rows.map(({ listener }) => listener)}::text[],
      ${rows.map(({ queue }) => queue)}::text[])`.execute(db)
}

/** A listener of one source lost the transaction. */
export interface LostByListener {
  readonly error: QuittanceError
  /** Which source it was, if that is known. */
  readonly index: number | undefined
}

// Stryker disable next-line StringLiteral: any name that no other error has
const lostName = 'LostByListener'

function lost(cause: QuittanceError, index: number | undefined): Error {
  // The cause is not repeated: its text names the listener, and texts of errors are classified.
  // Stryker disable next-line StringLiteral,ObjectLiteral: whoever meets it looks at the cause alone
  const gone = new Error('a listener lost the transaction', { cause })
  return Object.assign(gone, { index, name: lostName, error: cause })
}

export function lostByListener(error: unknown): LostByListener | undefined {
  if (!(error instanceof Error) || error.name !== lostName) return undefined
  return error as Error & LostByListener
}
