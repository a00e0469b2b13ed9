import type { Transaction } from '../database/connect.ts'
import { classifyFailure, sqlStateOf } from '../database/failure.ts'
import type { BillingEvent } from '../events/catalogue.ts'
import type { Duration } from '../kernel/duration.ts'
import { isQuittanceError, QuittanceError } from '../kernel/errors.ts'
import type { NewId } from '../kernel/ids.ts'
import { claimEvents, type SourcedClaim } from './claim-events.ts'
import type { BoundBilling, Listener, ListenerContext } from './listener.ts'
import { listenerTransaction, runInScope, type ListenerScope } from './listener-scope.ts'
import type { Addressed, ListenerRegistry, RegisteredListener } from './listeners.ts'

export interface Dispatching {
  readonly listeners: ListenerRegistry
  /** What all in-transaction listeners of one call may take together. */
  readonly listenerBudget: Duration
  readonly newId: NewId
  bind(transaction: Transaction, afterCommit: AfterCommit): BoundBilling
}

export type AfterCommit = (work: () => unknown) => void

/**
 * What became of the claims of one call:
 * - `told`: those in `events` are won, and every listener in the transaction was told of them;
 * - `failed`: its claims and its listeners' writes are rolled back, the transaction lives on;
 * - `left`: not begun: a call before it took too long for others to wait for what it holds, or left
 *   a setting or a temporary table behind that is none of this one's business.
 */
export type Told =
  | {
      readonly kind: 'told'
      readonly events: readonly BillingEvent[]
      readonly afterCommit: readonly (() => unknown)[]
    }
  | { readonly kind: 'failed'; readonly listener: string; readonly error: unknown }
  | { readonly kind: 'left' }

interface Telling extends Dispatching {
  /** The listeners of the call at this index come next. */
  onBegin(index: number): void
}

type ClaimThese = (claims: readonly SourcedClaim[]) => Promise<readonly BillingEvent[]>

const savepoint = 'quittance_listeners'
/** A transaction that slow listeners hold open ends after the one that is running by then. */
const sharedFor: Duration = 500

/**
 * Takes the claims of calls and tells the listeners in the transaction of what is new, call by
 * call, each call behind a savepoint and for a limited time. A claim is taken right before its
 * listeners are told: should one of them commit, it commits nobody else's untold events. Throws
 * where the transaction itself is lost (`listener_timed_out`, `listener_broke_transaction`).
 */
export async function tellListeners(
  transaction: Transaction,
  claimsOfCalls: readonly (readonly SourcedClaim[])[],
  telling: Telling,
): Promise<readonly Told[]> {
  const isDirect = (claims: readonly SourcedClaim[]) =>
    claims.some(({ claim }) => hasDirectListener(telling.listeners, claim))
  const untold = claimsOfCalls.filter((claims) => !isDirect(claims)).flat()
  const claim = claimingIn(transaction, telling)
  const won = await claim(untold)
  const wonById = new Map(won.map((event) => [event.id, event]))
  const told: Told[] = []
  const end = performance.now() + sharedFor
  let shared = false
  let over = false
  for (const [index, claims] of claimsOfCalls.entries()) {
    if (!isDirect(claims)) {
      const events = claims.flatMap(({ claim }) => wonById.get(claim.eventId) ?? [])
      told.push({ kind: 'told', events, afterCommit: [] })
      continue
    }
    if (over) {
      told.push({ kind: 'left' })
      continue
    }
    telling.onBegin(index)
    if (!shared) await transaction.client.query(`savepoint ${savepoint}`)
    shared = true
    const run = startRun(transaction, telling)
    told.push(await tellGuarded(run, () => claim(claims), telling))
    over = performance.now() > end || run.scope.leavesTrace === true
  }
  return told
}

export function hasDirectListener(listeners: ListenerRegistry, event: Addressed): boolean {
  return listeners.of(event).some(({ queued }) => !queued)
}

export function hasQueuedListener(listeners: ListenerRegistry, event: Addressed): boolean {
  return listeners.of(event).some(({ queued }) => queued)
}

/** Whether this process may claim is asked once a transaction, by its first claims. */
function claimingIn({ db }: Transaction, { listeners, newId }: Dispatching): ClaimThese {
  let isEntitled = false
  return async (claims) => {
    const events = await claimEvents(db, claims, { listeners, newId, isEntitled })
    isEntitled ||= claims.length > 0
    return events
  }
}

/** Leaves a fresh savepoint behind for the next one. */
async function tellGuarded(
  run: Run,
  claim: () => Promise<readonly BillingEvent[]>,
  { listeners }: Dispatching,
): Promise<Told> {
  const { client } = run.transaction
  try {
    const events = await claim()
    for (const event of events) {
      for (const listener of listeners.of(event)) {
        if (!listener.queued) await tell(run, event, listener)
      }
    }
    if (events.length > 0) {
      const fresh = `release savepoint ${savepoint}; savepoint ${savepoint}`
      await client.query(fresh).catch(brokeTransaction)
    }
    return { kind: 'told', events, afterCommit: run.afterCommit }
  } catch (error) {
    if (run.expired !== undefined) throw run.expired
    const aborted = isAborted(error)
    const listener = aborted ? run.currentListener : run.failedListener
    if (listener === undefined || isLostByListener(error)) throw error
    await client.query(`rollback to savepoint ${savepoint}`).catch(brokeTransaction)
    return { kind: 'failed', listener, error: aborted ? swallowed(listener) : error }
  } finally {
    run.scope.open = false
    clearTimeout(run.timer)
  }
}

/** Listeners being told in a transaction. */
interface Run {
  readonly transaction: Transaction
  readonly scope: ListenerScope
  readonly context: Omit<ListenerContext, 'idempotencyKey'>
  readonly afterCommit: (() => unknown)[]
  readonly timer: NodeJS.Timeout
  readonly timedOut: Promise<never>
  currentListener: string | undefined
  failedListener: string | undefined
  /** The time was up: the transaction is gone, whatever else was reported. */
  expired: QuittanceError | undefined
}

function startRun(transaction: Transaction, dispatching: Dispatching): Run {
  const scope: ListenerScope = { open: true }
  const afterCommit: (() => unknown)[] = []
  const abort = new AbortController()
  const expiry = Promise.withResolvers<never>()
  // Nobody may be waiting for it when it strikes between two listeners.
  expiry.promise.catch(() => {})
  const { listenerBudget } = dispatching
  const run: Run = {
    transaction,
    scope,
    afterCommit,
    timedOut: expiry.promise,
    context: {
      tx: listenerTransaction(transaction.client, scope),
      billing: dispatching.bind(transaction, (work) => afterCommit.push(work)),
      afterCommit: (work) => afterCommit.push(work),
      signal: abort.signal,
    },
    timer: setTimeout(() => {
      const error = timedOut(run.currentListener, listenerBudget)
      scope.open = false
      run.expired = error
      abort.abort(error)
      expiry.reject(error)
      transaction.destroy()
    }, listenerBudget),
    currentListener: undefined,
    failedListener: undefined,
    expired: undefined,
  }
  return run
}

async function tell(run: Run, event: BillingEvent, listener: RegisteredListener): Promise<void> {
  run.currentListener = listener.name
  const context: ListenerContext = {
    ...run.context,
    idempotencyKey: idempotencyKey(event.dedupKey, listener.name),
  }
  try {
    // The registry pairs a listener with events of its own type.
    const call = listener.run as Listener<typeof event.type>
    const told = runInScope(run.scope, async () => call(event as never, context))
    await Promise.race([told, run.timedOut])
    requireHealthy(run, listener)
  } catch (error) {
    run.failedListener = listener.name
    throw error
  }
}

export function idempotencyKey(dedupKey: string, listener: string): string {
  return `${dedupKey}/${listener}`
}

/** An ended transaction shows at once; an aborted one at the latest with our next statement. */
function requireHealthy(run: Run, listener: RegisteredListener): void {
  const status = run.transaction.client.getTransactionStatus()
  if (status === 'E') throw swallowed(listener.name)
  if (status !== 'T') brokeTransaction(undefined)
}

function swallowed(listener: string): Error {
  return new Error(`listener ${listener} swallowed an SQL error: its transaction is aborted`)
}

/** PostgreSQL's in_failed_sql_transaction: an earlier statement failed, and somebody hid it. */
function isAborted(error: unknown): boolean {
  return sqlStateOf(error) === '25P02'
}

function timedOut(listener: string | undefined, budget: Duration): QuittanceError {
  return new QuittanceError(
    'listener_timed_out',
    `listener ${listener ?? '(none)'} did not end within ${budget / 1000} s; its transaction is cut`,
  )
}

function brokeTransaction(error: unknown): never {
  if (classifyFailure(error) === 'lost' || isAborted(error)) throw error
  throw new QuittanceError(
    'listener_broke_transaction',
    'a listener ended the transaction that it was given',
    { cause: error },
  )
}

/** The transaction is lost by the listener that was being told, and by nobody else. */
export function isLostByListener(error: unknown): boolean {
  if (!isQuittanceError(error)) return false
  return error.code === 'listener_broke_transaction' || error.code === 'listener_timed_out'
}
