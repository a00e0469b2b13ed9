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

/** Of several sources; `left`: not begun, for one before it took too long or left something behind. */
export type DispatchedTogether = Dispatched | { readonly kind: 'left' }

/** A transaction that slow listeners hold open ends after the source that is running by then. */
const sharedFor = 500

/**
 * Claims the events of several sources and runs their listeners in the transaction, source by
 * source, each behind a savepoint and for a limited time. A claim is taken right before its
 * listeners run: should one of them commit, it commits nobody else's events undispatched. Throws
 * where the transaction itself is lost: see `lostByListener`.
 */
export async function dispatchEvents(
  transaction: Transaction,
  sources: readonly SourceClaims[],
  context: DispatchContext,
): Promise<readonly DispatchedTogether[]> {
  const session = openSession(transaction, context)
  const isDirect = sources.map((source) => hasDirectClaim(source, context))
  const won = await session.claim(sources.filter((_source, index) => isDirect[index] !== true))
  const wonById = new Map(won.map((event) => [event.id, event]))
  const dispatched: DispatchedTogether[] = []
  const end = performance.now() + sharedFor
  let isOver = false
  for (const [index, source] of sources.entries()) {
    if (isDirect[index] !== true) {
      const events = source.claims.flatMap(({ eventId }) => wonById.get(eventId) ?? [])
      dispatched.push({ kind: 'dispatched', events, afterCommit: [] })
    } else if (isOver) {
      dispatched.push({ kind: 'left' })
    } else {
      const result = await session.run(source, index)
      dispatched.push(result)
      isOver = performance.now() > end || result.leavesTrace
    }
  }
  return dispatched
}

/** The same for one source, which is never left. */
export async function dispatchAlone(
  transaction: Transaction,
  source: SourceClaims,
  context: DispatchContext,
): Promise<Dispatched> {
  const session = openSession(transaction, context)
  if (hasDirectClaim(source, context)) return session.run(source, 0)
  return { kind: 'dispatched', events: await session.claim([source]), afterCommit: [] }
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

/** Claims and runs within one transaction: what is asked or opened once a transaction is kept here. */
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

/** The transaction is gone by the doing of one source's listener, and of nobody else. */
export interface LostByListener {
  readonly error: QuittanceError
  /** Of the source among those that were dispatched. */
  readonly index: number
  /** A listener that committed may have committed them with it. */
  readonly eventIds: readonly string[]
}

const lostName = 'LostByListener'

function lost(cause: QuittanceError, by: Omit<LostByListener, 'error'>): Error {
  // Nothing of the cause in its text: that names the listener, whatever it is called.
  const gone = new Error('a listener lost the transaction', { cause })
  return Object.assign(gone, { ...by, name: lostName, error: cause })
}

export function lostByListener(error: unknown): LostByListener | undefined {
  if (!(error instanceof Error) || error.name !== lostName) return undefined
  return error as Error & LostByListener
}
