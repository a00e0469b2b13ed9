import type { Transaction } from '../database/connect.ts'
import { classifyFailure, sqlStateOf } from '../database/failure.ts'
import type { BillingEvent } from '../events/catalogue.ts'
import type { Duration } from '../kernel/duration.ts'
import { isQuittanceError, QuittanceError } from '../kernel/errors.ts'
import type { NewId } from '../kernel/ids.ts'
import { inSpan, type Spans } from '../kernel/spans.ts'
import type { ClaimSource } from './claim-events.ts'
import { aboutDispatch, aboutListener, parentOfEvent } from './event-spans.ts'
import type { BoundBilling, Listener, ListenerContext } from './listener.ts'
import {
  listenerDb,
  listenerTransaction,
  ourSavepoint,
  runInScope,
  type ListenerScope,
} from './listener-scope.ts'
import type { ListenerRegistry, RegisteredListener } from './listeners.ts'

/** What dispatching needs besides the transaction. */
export interface DispatchContext {
  readonly listeners: ListenerRegistry
  /** What all in-transaction listeners of one source may take together. */
  readonly listenerBudget: Duration
  readonly newId: NewId
  /** Undefined without a tracer. */
  readonly spans?: Spans | undefined
  /** To the transaction, for as long as its listener runs. */
  bind(transaction: Pick<Transaction, 'db'>, afterCommit: AfterCommit): BoundBilling
}

export type AfterCommit = (work: () => unknown) => void

/**
 * What became of the claims of one source:
 * - `dispatched`: those in `events` are won, and every listener in the transaction has run;
 * - `failed`: its claims and its listeners' writes are rolled back, the transaction lives on.
 */
export type Dispatched =
  | {
      readonly kind: 'dispatched'
      readonly events: readonly BillingEvent[]
      readonly afterCommit: readonly (() => unknown)[]
    }
  | { readonly kind: 'failed'; readonly listener: string; readonly error: unknown }

export async function setSavepoint({ client }: Transaction): Promise<void> {
  await client.query(`savepoint ${ourSavepoint}`)
}

/** The events that one source has won. */
export interface WonEvents {
  readonly source: ClaimSource
  readonly events: readonly BillingEvent[]
}

/**
 * Runs the listeners of the events that one source has won, behind the savepoint and for a limited
 * time, and sets a fresh savepoint for the next source. Throws if the transaction itself is lost.
 */
export async function runListeners(
  transaction: Transaction,
  { source, events }: WonEvents,
  context: DispatchContext,
): Promise<Dispatched & { readonly leavesTrace: boolean }> {
  const { client } = transaction
  const run = startRun(transaction, context)
  const end = (dispatched: Dispatched) => ({ ...dispatched, leavesTrace: run.leavesTrace })
  try {
    for (const event of events) {
      const direct = context.listeners.of(event).filter(({ queued }) => !queued)
      const parent = parentOfEvent(context.spans, source, event)
      await inSpan(
        parent,
        () => aboutDispatch(event, source),
        async (span) => {
          for (const listener of direct) {
            const about = () => aboutListener(event, listener.name)
            await inSpan(span, about, () => runListener(run, event, listener))
          }
        },
      )
    }
    const fresh = `release savepoint ${ourSavepoint}; savepoint ${ourSavepoint}`
    await client.query(fresh).catch(failOnBroken)
    return end({ kind: 'dispatched', events, afterCommit: run.afterCommit })
  } catch (error) {
    if (run.expired !== undefined) throw run.expired
    const aborted = isAborted(error)
    const listener = aborted ? run.currentListener : run.failedListener
    // Stryker disable next-line ConditionalExpression: no listener's, it lost the connection
    if (listener === undefined || isTransactionLost(error)) throw error
    await client.query(`rollback to savepoint ${ourSavepoint}`).catch(failOnBroken)
    return end({ kind: 'failed', listener, error: aborted ? swallowed(listener) : error })
  } finally {
    clearTimeout(run.timer)
  }
}

/** The listeners of one source, while they run. */
interface Run {
  readonly transaction: Transaction
  readonly context: Omit<ListenerContext, 'tx' | 'billing' | 'idempotencyKey'>
  bind(scope: ListenerScope): BoundBilling
  readonly afterCommit: (() => unknown)[]
  readonly timer: NodeJS.Timeout
  readonly timedOut: Promise<never>
  /** That of the current listener. */
  scope: ListenerScope | undefined
  leavesTrace: boolean
  currentListener: string | undefined
  failedListener: string | undefined
  /** Set when the time is up: the transaction is lost, whatever else is thrown. */
  expired: QuittanceError | undefined
}

function startRun(transaction: Transaction, context: DispatchContext): Run {
  const afterCommit: (() => unknown)[] = []
  const abort = new AbortController()
  const expiry = Promise.withResolvers<never>()
  // It may strike between two listeners, while nothing awaits it.
  expiry.promise.catch(() => {})
  const { listenerBudget } = context
  const run: Run = {
    transaction,
    afterCommit,
    timedOut: expiry.promise,
    bind: (scope) =>
      context.bind({ db: listenerDb(transaction, scope) }, (work) => afterCommit.push(work)),
    context: {
      afterCommit: (work) => afterCommit.push(context.spans?.bind(work) ?? work),
      signal: abort.signal,
    },
    timer: setTimeout(() => {
      const error = timedOut(run.currentListener, listenerBudget)
      if (run.scope !== undefined) run.scope.open = false
      run.expired = error
      abort.abort(error)
      expiry.reject(error)
      transaction.destroy()
    }, listenerBudget),
    scope: undefined,
    leavesTrace: false,
    currentListener: undefined,
    failedListener: undefined,
    expired: undefined,
  }
  return run
}

async function runListener(
  run: Run,
  event: BillingEvent,
  listener: RegisteredListener,
): Promise<void> {
  run.currentListener = listener.name
  const scope: ListenerScope = {
    open: true,
    leavesTrace: false,
    leavesSession: false,
    nested: [],
  }
  run.scope = scope
  const context: ListenerContext = {
    ...run.context,
    tx: listenerTransaction(run.transaction.client, scope),
    billing: run.bind(scope),
    idempotencyKey: idempotencyKey(event.dedupKey, listener.name),
  }
  try {
    // The registry pairs a listener with events of its own type.
    const call = listener.run as Listener<typeof event.type>
    const ended = runInScope(scope, async () => call(event as never, context))
    await Promise.race([ended.then(() => answered(run.transaction)), run.timedOut])
    requireHealthy(run, listener)
  } catch (error) {
    run.failedListener = listener.name
    throw error
  } finally {
    // At once: what it left under way must not write behind the rollback, or into the next one.
    scope.open = false
    run.leavesTrace ||= scope.leavesTrace
    if (scope.leavesSession) run.transaction.retire()
  }
}

export function idempotencyKey(dedupKey: string, listener: string): string {
  return `${dedupKey}/${listener}`
}

/**
 * Waits until the server has answered all statements: only then does it say what became of the
 * transaction, after an error a moment later. The empty statement fails in no transaction.
 */
async function answered({ client }: Transaction): Promise<void> {
  if (Reflect.get(client, 'readyForQuery') !== true) await client.query('')
}

function requireHealthy({ transaction, scope }: Run, listener: RegisteredListener): void {
  const status = transaction.client.getTransactionStatus()
  if (status === 'E') throw swallowed(listener.name)
  if (status !== 'T') throw brokeTransaction()
  if (scope?.nested.length !== 0) throw leftOpen(listener.name)
}

function swallowed(listener: string): Error {
  return new Error(`listener ${listener} swallowed an SQL error: its transaction is aborted`)
}

/** Whoever begins one and never commits it gets nothing of it committed, as anywhere. */
function leftOpen(listener: string): Error {
  return new Error(`listener ${listener} left a nested transaction open`)
}

/** PostgreSQL's in_failed_sql_transaction: an earlier statement failed, and the listener hid it. */
function isAborted(error: unknown): boolean {
  return sqlStateOf(error) === '25P02'
}

function timedOut(listener: string | undefined, budget: Duration): QuittanceError {
  return new QuittanceError(
    'listener_timed_out',
    // Stryker disable next-line StringLiteral: before its first listener a source is quick
    `listener ${listener ?? '(none)'} did not end within ${budget / 1000} s; its transaction is cut`,
  )
}

function failOnBroken(error: unknown): never {
  if (classifyFailure(error) === 'lost' || isAborted(error)) throw error
  throw brokeTransaction(error)
}

/** A listener committed or rolled back by itself. */
export function brokeTransaction(error?: unknown): QuittanceError {
  return new QuittanceError(
    'listener_broke_transaction',
    'a listener ended the transaction that it was given',
    { cause: error },
  )
}

/** A listener ended the transaction, or ran out of time. */
export function isTransactionLost(error: unknown): error is QuittanceError {
  if (!isQuittanceError(error)) return false
  return error.code === 'listener_broke_transaction' || error.code === 'listener_timed_out'
}
