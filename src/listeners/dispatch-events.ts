import type { Transaction } from '../database/connect.ts'
import type { QuittanceError } from '../kernel/errors.ts'
import { claimEvents, type SourceClaims } from './claim-events.ts'
import type { Addressed, ListenerRegistry } from './listeners.ts'
import {
  isTransactionLost,
  runListeners,
  setSavepoint,
  type Dispatched,
  type DispatchContext,
} from './run-listeners.ts'

/** Of several sources; `left`: not begun, because one before it was slow or left a trace behind. */
export type DispatchedTogether = Dispatched | { readonly kind: 'left' }

/** A source, and what became of its claims. */
export type DispatchedSource<Source extends SourceClaims> = Source & {
  readonly dispatched: DispatchedTogether
}

/** After this long, slow listeners hold up nobody else: the rest of the sources is left. */
const sharedFor = 500

/**
 * Claims the events of several sources and runs their listeners in the transaction, source by
 * source, each behind a savepoint and for a limited time. An event is claimed right before its
 * listeners run: if one of them commits, it commits no event whose listeners have yet to run.
 * Throws if the transaction itself is lost: see `lostByListener`.
 */
export async function dispatchEvents<Source extends SourceClaims>(
  transaction: Transaction,
  sources: readonly Source[],
  context: DispatchContext,
): Promise<readonly DispatchedSource<Source>[]> {
  const session = openSession(transaction, context)
  const direct = new Set(sources.filter((source) => hasDirectClaim(source, context)))
  const won = await session.claim(sources.filter((source) => !direct.has(source)))
  const wonById = new Map(won.map((event) => [event.id, event]))
  const ended: DispatchedSource<Source>[] = []
  const end = performance.now() + sharedFor
  let isOver = false
  for (const [index, source] of sources.entries()) {
    if (!direct.has(source)) {
      const claimed = source.claims.map(({ eventId }) => wonById.get(eventId))
      const events = claimed.filter((event) => event !== undefined)
      ended.push({ ...source, dispatched: { ...nothingNew, events } })
    } else if (isOver) {
      ended.push({ ...source, dispatched: { kind: 'left' } })
    } else {
      const dispatched = await session.run(source, index)
      ended.push({ ...source, dispatched })
      isOver = performance.now() > end || dispatched.leavesTrace
    }
  }
  return ended
}

/** The same for one source, which is never left. */
export async function dispatchAlone(
  transaction: Transaction,
  source: SourceClaims,
  context: DispatchContext,
): Promise<Dispatched> {
  const session = openSession(transaction, context)
  if (hasDirectClaim(source, context)) return session.run(source, 0)
  return { ...nothingNew, events: await session.claim([source]) }
}

/** Whether listeners in the transaction hear of the event. */
export function hasDirectListener(listeners: ListenerRegistry, event: Addressed): boolean {
  return listeners.of(event).some(({ queued }) => !queued)
}

export function hasQueuedListener(listeners: ListenerRegistry, event: Addressed): boolean {
  return listeners.of(event).some(({ queued }) => queued)
}

function hasDirectClaim({ claims }: SourceClaims, { listeners }: DispatchContext): boolean {
  return claims.some((claim) => hasDirectListener(listeners, claim))
}

const nothingNew = { kind: 'dispatched', events: [], afterCommit: [], leavesTrace: false } as const

/** What is done once per transaction: the check that it may claim, and the savepoint. */
function openSession(transaction: Transaction, context: DispatchContext) {
  const { listeners, newId } = context
  let isEntitled = false
  let hasSavepoint = false
  const claim = async (sources: readonly SourceClaims[]) => {
    const events = await claimEvents(transaction.db, sources, { listeners, newId, isEntitled })
    isEntitled ||= sources.some(({ claims }) => claims.length > 0)
    return events
  }
  const run = async (source: SourceClaims, index: number) => {
    if (!hasSavepoint) await setSavepoint(transaction)
    hasSavepoint = true
    const events = await claim([source])
    if (events.length === 0) return nothingNew
    try {
      return await runListeners(transaction, events, context)
    } catch (error) {
      throw isTransactionLost(error)
        ? lost(error, { index, eventIds: source.claims.map(({ eventId }) => eventId) })
        : error
    }
  }
  return { claim, run }
}

/** A listener of one source lost the transaction. */
export interface LostByListener {
  readonly error: QuittanceError
  /** Which source it was. */
  readonly index: number
  /** The events that it may have committed. */
  readonly eventIds: readonly string[]
}

// Stryker disable next-line StringLiteral: any name that no other error has
const lostName = 'LostByListener'

function lost(cause: QuittanceError, by: Omit<LostByListener, 'error'>): Error {
  // The cause is not repeated: its text names the listener, and texts of errors are classified.
  // Stryker disable next-line StringLiteral,ObjectLiteral: whoever meets it looks at the cause alone
  const gone = new Error('a listener lost the transaction', { cause })
  return Object.assign(gone, { ...by, name: lostName, error: cause })
}

export function lostByListener(error: unknown): LostByListener | undefined {
  if (!(error instanceof Error) || error.name !== lostName) return undefined
  return error as Error & LostByListener
}
