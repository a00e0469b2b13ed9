import type { Database, Transaction } from '../database/connect.ts'
import { classifyFailure, isPassing, sqlStateOf } from '../database/failure.ts'
import type { Registry } from '../gateways/registry.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import type { Outcome } from '../payments/outcome.ts'
import { returnLease, type LeasedCall } from '../queue/lease.ts'
import { returnDelay, returnsBeforeAttempt } from '../queue/retry.ts'
import { afterCommit } from './after-commit.ts'
import { applyOutcomes, type Application, type Claim } from './apply-outcomes.ts'
import { dispatchEvents, type Dispatching } from './dispatch-events.ts'
import { finishCall, isLeaseLost, leaseLost } from './finish-call.ts'
import { giveBack } from './give-back.ts'
import { interpretCall } from './interpret-call.ts'
import { recordFailure, recordFailureIn, recordLostTransaction } from './record-failure.ts'

export interface Processing extends Dispatching {
  readonly database: Database
  readonly gateways: Registry
  readonly log: Log
  readonly newId: NewId
  readonly random: () => number
  /** Attempts that a call has. */
  readonly attempts: number
  /** Blanks out known secrets in a text that will be stored. */
  scrub(text: string): string
  /** Work after commits that has not ended yet. */
  readonly underWay: Set<Promise<void>>
  /** Calls wait. */
  onCalls(): void
  /** Deliveries to queued listeners wait. */
  onDeliveries(): void
}

/**
 * - `done`: processed or ignored, its claims committed;
 * - `failed`: an attempt is used up; it will be retried or is `failed` for good;
 * - `returned`: a passing database failure, no attempt used;
 * - `lost`: another worker has the lease; nothing of ours is committed.
 */
export type CallResult = 'done' | 'failed' | 'returned' | 'lost'

/** The job: load -> interpret -> apply -> done. */
export async function processCall(call: LeasedCall, processing: Processing): Promise<CallResult> {
  let outcomes: readonly Outcome[]
  try {
    outcomes = await interpretCall(call, processing)
  } catch (error) {
    return recordFailure(call, processing, { error })
  }
  try {
    return await settle(call, outcomes, processing)
  } catch (error) {
    if (isLeaseLost(error)) {
      processing.log.warn(
        { call: call.id },
        'lease lost while processing; another worker has the call',
      )
      return 'lost'
    }
    if (!isPassing(error) || !mayReturn(call)) return recordFailure(call, processing, { error })
    await giveBack(call, 'billing.webhook_calls', { ...processing, error })
    return 'returned'
  }
}

/** One transaction: payments, claims, listeners, and the end of the call behind its lease token. */
async function settle(
  call: LeasedCall,
  outcomes: readonly Outcome[],
  processing: Processing,
): Promise<CallResult> {
  const { gateway, id: callId } = call
  const application: Application = { gateway, outcomes, cause: 'call', callId, ...processing }
  let claims: readonly Claim[] = []
  try {
    const committed = await processing.database.transaction(async (transaction) => {
      const applied = await applyOutcomes(transaction.db, application)
      claims = applied.flatMap((one) => (one.kind === 'claim' ? [one.claim] : []))
      const source = { cause: 'call', callId, queue: call.queue } as const
      const dispatched = await dispatchEvents(transaction, claims, {
        source,
        dispatching: processing,
      })
      if (dispatched.kind === 'listener_failed') {
        // Both keep the payment's new status, without the claims.
        if (isDatabaseTransient(dispatched.error) && mayReturn(call)) {
          return await giveBackIn(transaction, call, processing)
        }
        const paymentId = claims[0]?.payment.id
        await recordFailureIn(transaction, call, { ...processing, ...dispatched, paymentId })
        return 'failed'
      }
      await finishCall(transaction.db, call, { applied, won: dispatched.won })
      return { applied, dispatched }
    })
    if (typeof committed === 'string') return committed
    await afterCommit(call, processing, committed)
    return 'done'
  } catch (error) {
    if (isLeaseLost(error) || (isPassing(error) && mayReturn(call))) throw error
    // Whatever a listener did to the transaction must not keep a paid payment pending.
    return recordLostTransaction(call, processing, { error, application, claims })
  }
}

async function giveBackIn(
  transaction: Transaction,
  call: LeasedCall,
  { random }: Processing,
): Promise<'returned'> {
  const after = returnDelay(call.times_returned, random)
  const table = 'billing.webhook_calls'
  if (!(await returnLease(transaction.db, table, { lease: call, after }))) throw leaseLost(call)
  return 'returned'
}

/** Deadlocks, lost connections and the like are nobody's fault, unless they never end. */
function mayReturn(call: LeasedCall): boolean {
  return call.times_returned < returnsBeforeAttempt
}

/** Said by the server itself: a network error of a listener's may be of anybody's making. */
function isDatabaseTransient(error: unknown): boolean {
  return sqlStateOf(error) !== undefined && classifyFailure(error) === 'transient'
}
