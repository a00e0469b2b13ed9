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

/** Takes the claims in the order of their keys and tells the listeners of those it won. */
export async function dispatchEvents(
  transaction: Transaction,
  claims: readonly Claim[],
  options: { readonly source: DispatchSource; readonly dispatching: Dispatching },
): Promise<Dispatched> {
  const claiming: Claiming = { transaction, ...options, deliveries: 0 }
  const ordered = claims.toSorted(byKey)
  const { listeners } = options.dispatching
  const direct = ordered.some((claim) => listeners.of(claim.type).some((one) => !one.queued))
  if (direct) return dispatchGuarded(claiming, ordered)
  // Nobody else writes in this transaction, so there is nothing to guard.
  const won = new Set<string>()
  for (const claim of ordered) {
    const event = await insertClaim(claiming, claim)
    if (event === undefined) continue
    won.add(claim.dedupKey)
    for (const listener of listeners.of(event.type)) await queueDelivery(claiming, event, listener)
  }
  return { kind: 'dispatched', won, deliveries: claiming.deliveries, afterCommit: [] }
}

/** The same with listeners in the transaction: behind a savepoint, and for a limited time. */
async function dispatchGuarded(claiming: Claiming, claims: readonly Claim[]): Promise<Dispatched> {
  const { client } = claiming.transaction
  const { listeners } = claiming.dispatching
  await client.query(`savepoint ${savepoint}`)
  const run = startRun(claiming)
  try {
    const won = new Set<string>()
    for (const claim of claims) {
      const event = await insertClaim(claiming, claim)
      if (event === undefined) continue
      won.add(claim.dedupKey)
      for (const listener of listeners.of(event.type)) {
        if (listener.queued) await queueDelivery(claiming, event, listener)
        else await tell(run, event, listener)
      }
    }
    await client.query(`release savepoint ${savepoint}`).catch(brokeTransaction)
    const { deliveries } = claiming
    return { kind: 'dispatched', won, deliveries, afterCommit: run.afterCommit }
  } catch (error) {
    if (run.expired !== undefined) throw run.expired
    const aborted = isAborted(error)
    const listener = aborted ? run.currentListener : run.failedListener
    if (listener === undefined || isTransactionLoss(error)) throw error
    await client.query(`rollback to savepoint ${savepoint}`).catch(brokeTransaction)
    return { kind: 'listener_failed', listener, error: aborted ? swallowed(listener) : error }
  } finally {
    run.scope.open = false
    clearTimeout(run.timer)
  }
}

/** Claims being taken in a transaction. */
interface Claiming {
  readonly transaction: Transaction
  readonly source: DispatchSource
  readonly dispatching: Dispatching
  deliveries: number
}

/** Listeners being told in it. */
interface Run {
  readonly transaction: Transaction
  readonly scope: ListenerScope
  readonly context: Omit<ListenerContext, 'idempotencyKey'>
  readonly afterCommit: (() => void | Promise<void>)[]
  readonly timer: NodeJS.Timeout
  readonly timedOut: Promise<never>
  currentListener: string | undefined
  failedListener: string | undefined
  /** The time was up: the transaction is gone, whatever else was reported. */
  expired: QuittanceError | undefined
}

function startRun({ transaction, dispatching }: Claiming): Run {
  const scope: ListenerScope = { open: true }
  const afterCommit: (() => void | Promise<void>)[] = []
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

async function insertClaim(
  { transaction, source }: Claiming,
  claim: Claim,
): Promise<BillingEvent | undefined> {
  const row = await transaction.db
    .insertInto('billing.events')
    .values({
      id: claim.eventId,
      dedup_key: claim.dedupKey,
      type: claim.type,
      payment_id: claim.payment.id,
      webhook_call_id: source.callId,
      source: source.cause,
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
  claiming: Claiming,
  event: BillingEvent,
  listener: RegisteredListener,
): Promise<void> {
  await claiming.transaction.db
    .insertInto('billing.deliveries')
    .values({
      id: claiming.dispatching.newId(),
      event_id: event.id,
      listener: listener.name,
      queue: claiming.source.queue,
    })
    .execute()
  claiming.deliveries += 1
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
