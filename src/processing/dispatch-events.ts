import type { Transaction } from '../database/connect.ts'
import { classifyFailure, sqlStateOf } from '../database/failure.ts'
import type { BillingEvent } from '../events/catalogue.ts'
import type { Duration } from '../kernel/duration.ts'
import { isQuittanceError, QuittanceError } from '../kernel/errors.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Cause } from '../payments/payment.ts'
import type { Claim } from './apply-outcomes.ts'
import type { BoundBilling, Listener, ListenerContext } from './listener.ts'
import { listenerTransaction, runInScope, type ListenerScope } from './listener-scope.ts'
import type { ListenerRegistry, RegisteredListener } from './listeners.ts'

export interface Dispatching {
  readonly listeners: ListenerRegistry
  /** What all in-transaction listeners of one call may take together. */
  readonly listenerBudget: Duration
  readonly newId: NewId
  bind(transaction: Transaction, afterCommit: AfterCommit): BoundBilling
}

export interface DispatchSource {
  readonly cause: Cause
  readonly callId: string | null
  /** Queue of the deliveries to queued listeners. */
  readonly queue: string
}

export type AfterCommit = (work: () => void | Promise<void>) => void

/**
 * - `dispatched`: claimed and told to every listener; `won` are the keys that nobody had before;
 * - `listener_failed`: its writes and the claims are rolled back, the transaction lives on.
 * Throws where the transaction itself is lost (`listener_broke_transaction`, `listener_timed_out`).
 */
export type Dispatched =
  | {
      readonly kind: 'dispatched'
      readonly won: ReadonlySet<string>
      readonly deliveries: number
      readonly afterCommit: readonly (() => void | Promise<void>)[]
    }
  | { readonly kind: 'listener_failed'; readonly listener: string; readonly error: unknown }

const savepoint = 'quittance_listeners'

/** Takes the claims in the order of their keys and runs the listeners of those it won. */
export async function dispatchEvents(
  transaction: Transaction,
  claims: readonly Claim[],
  options: { readonly source: DispatchSource; readonly dispatching: Dispatching },
): Promise<Dispatched> {
  const { listeners } = options.dispatching
  // Where nobody else writes in this transaction, there is nothing to roll back to.
  const guarded = claims.some((claim) => listeners.of(claim.type).some((one) => !one.queued))
  if (guarded) await transaction.client.query(`savepoint ${savepoint}`)
  const run = startRun(transaction, options)
  try {
    const won = new Set<string>()
    for (const claim of claims.toSorted(byKey)) {
      const event = await insertClaim(run, claim)
      if (event === undefined) continue
      won.add(claim.dedupKey)
      for (const listener of listeners.of(event.type)) await tell(run, event, listener)
    }
    if (guarded) {
      await transaction.client.query(`release savepoint ${savepoint}`).catch(brokeTransaction)
    }
    return { kind: 'dispatched', won, deliveries: run.deliveries, afterCommit: run.afterCommit }
  } catch (error) {
    if (run.expired !== undefined) throw run.expired
    const aborted = isAborted(error)
    const listener = aborted ? run.currentListener : run.failedListener
    if (listener === undefined || isTransactionLoss(error)) throw error
    await transaction.client.query(`rollback to savepoint ${savepoint}`).catch(brokeTransaction)
    return { kind: 'listener_failed', listener, error: aborted ? swallowed(listener) : error }
  } finally {
    run.scope.open = false
    clearTimeout(run.timer)
  }
}

interface Run {
  readonly transaction: Transaction
  readonly source: DispatchSource
  readonly dispatching: Dispatching
  readonly scope: ListenerScope
  readonly context: Omit<ListenerContext, 'idempotencyKey'>
  readonly afterCommit: (() => void | Promise<void>)[]
  readonly timer: NodeJS.Timeout
  readonly timedOut: Promise<never>
  deliveries: number
  currentListener: string | undefined
  failedListener: string | undefined
  /** The time was up: the transaction is gone, whatever else was reported. */
  expired: QuittanceError | undefined
}

function startRun(
  transaction: Transaction,
  options: { readonly source: DispatchSource; readonly dispatching: Dispatching },
): Run {
  const scope: ListenerScope = { open: true }
  const afterCommit: (() => void | Promise<void>)[] = []
  const abort = new AbortController()
  const expiry = Promise.withResolvers<never>()
  // Nobody may be waiting for it when it strikes between two listeners.
  expiry.promise.catch(() => {})
  const { listenerBudget } = options.dispatching
  const run: Run = {
    transaction,
    ...options,
    scope,
    afterCommit,
    timedOut: expiry.promise,
    context: {
      tx: listenerTransaction(transaction.client, scope),
      billing: options.dispatching.bind(transaction, (work) => afterCommit.push(work)),
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
    deliveries: 0,
    currentListener: undefined,
    failedListener: undefined,
    expired: undefined,
  }
  return run
}

async function insertClaim(run: Run, claim: Claim): Promise<BillingEvent | undefined> {
  const row = await run.transaction.db
    .insertInto('billing.events')
    .values({
      id: claim.eventId,
      dedup_key: claim.dedupKey,
      type: claim.type,
      payment_id: claim.payment.id,
      webhook_call_id: run.source.callId,
      source: run.source.cause,
      data: '{}',
    })
    .onConflict((conflict) => conflict.column('dedup_key').doNothing())
    .returning('created_at')
    .executeTakeFirst()
  if (row === undefined) return undefined
  return {
    id: claim.eventId,
    type: claim.type,
    dedupKey: claim.dedupKey,
    createdAt: row.created_at,
    payment: claim.payment,
  } as BillingEvent
}

async function tell(run: Run, event: BillingEvent, listener: RegisteredListener): Promise<void> {
  if (listener.queued) return queueDelivery(run, event, listener)
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

async function queueDelivery(
  run: Run,
  event: BillingEvent,
  listener: RegisteredListener,
): Promise<void> {
  await run.transaction.db
    .insertInto('billing.deliveries')
    .values({
      id: run.dispatching.newId(),
      event_id: event.id,
      listener: listener.name,
      queue: run.source.queue,
    })
    .execute()
  run.deliveries += 1
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

function isTransactionLoss(error: unknown): boolean {
  return isQuittanceError(error) && error.code === 'listener_broke_transaction'
}

function byKey(a: Claim, b: Claim): number {
  return a.dedupKey < b.dedupKey ? -1 : 1
}
