import type { Database } from '../database/connect.ts'
import { isPassing } from '../database/failure.ts'
import type { Payload } from '../gateways/body/payload.ts'
import { readStored } from '../gateways/body/read-stored.ts'
import type { Gateway } from '../gateways/gateway.ts'
import type { Registry } from '../gateways/registry.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import { ignored, type Outcome } from '../payments/outcome.ts'
import { returnLease, type LeasedCall } from '../queue/lease.ts'
import { returnDelay, returnsBeforeAttempt } from '../queue/retry.ts'
import { applyOutcomes, type Applied, type Application, type Claim } from './apply-outcomes.ts'
import { requeueSettleableCalls } from './awaiting.ts'
import { dispatchEvents, type Dispatched, type Dispatching } from './dispatch-events.ts'
import { finishCall, isLeaseLost } from './finish-call.ts'
import { within } from './within.ts'
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

const interpretationLimit: Duration = seconds(20)
/** A database that restarts is back by then. */
const giveBackTries = 20
const giveBackPauseMs = 500

/** The job: load -> interpret -> apply -> done. */
export async function processCall(call: LeasedCall, processing: Processing): Promise<CallResult> {
  const { log } = processing
  try {
    const outcomes = await interpret(call, processing)
    return await settle(call, outcomes, processing)
  } catch (error) {
    if (isLeaseLost(error)) {
      log.warn({ call: call.id }, 'lease lost while processing; another worker has the call')
      return 'lost'
    }
    if (passes(error, call)) {
      return giveBack(call, processing, error)
    }
    return recordFailure(call, processing, { error })
  }
}

/** What the callback says, in our words. May call the provider; no transaction is open. */
async function interpret(call: LeasedCall, processing: Processing): Promise<readonly Outcome[]> {
  const found = processing.gateways.find(call.gateway)
  if (found === undefined) {
    throw new QuittanceError(
      'gateway_unknown',
      `call ${call.id} is of gateway ${call.gateway}, which this process has not registered`,
    )
  }
  const payload = payloadOf(call, found.gateway)
  if (payload.kind === 'unreadable') return [ignored('unreadable_payload', payload.reason)]
  const { credentials } = found
  const { log } = processing
  const late = () => new Error(`interpretation took over ${interpretationLimit / 1000} s`)
  const outcomes = await within(interpretationLimit, late, (signal) =>
    found.gateway.interpret(payload, { credentials, log, signal }),
  )
  return outcomes.length > 0 ? outcomes : [ignored('no_outcome')]
}

/** What could not be read when it came in may be readable to a newer version. */
function payloadOf(call: LeasedCall, gateway: Gateway): Payload {
  return call.kind === 'unreadable' || call.payload === null
    ? gateway.parse({ headers: {}, body: call.body ?? new Uint8Array() })
    : readStored(call.kind, call.payload)
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
        if (passes(dispatched.error, call)) throw dispatched.error
        const paymentId = claims[0]?.payment.id
        await recordFailureIn(transaction, call, { ...processing, ...dispatched, paymentId })
        return undefined
      }
      await finishCall(transaction.db, call, { applied, won: dispatched.won })
      return { applied, dispatched }
    })
    if (committed === undefined) return 'failed'
    await afterCommit(call, processing, committed)
    return 'done'
  } catch (error) {
    if (isLeaseLost(error) || passes(error, call)) throw error
    // Whatever a listener did to the transaction must not keep a paid payment pending.
    return recordLostTransaction(call, processing, { error, application, claims })
  }
}

interface Committed {
  readonly applied: readonly Applied[]
  readonly dispatched: Dispatched & { readonly kind: 'dispatched' }
}

async function afterCommit(
  call: LeasedCall,
  processing: Processing,
  { applied, dispatched }: Committed,
): Promise<void> {
  const { log, database } = processing
  logIgnored(call, applied, log)
  if (dispatched.deliveries > 0) processing.onDeliveries()
  for (const work of dispatched.afterCommit) {
    try {
      await work()
    } catch (error) {
      log.error({ err: error, call: call.id }, 'work after the commit failed')
    }
  }
  if (applied.some((one) => one.kind === 'ignored' && one.awaiting !== undefined)) {
    // The payment may have been created between our look and our commit.
    const look = requeueSettleableCalls(database.db, call.id)
    const back = await look.catch((error: unknown) => {
      log.warn({ err: error, call: call.id }, 'could not look again; the sweeper will')
      return []
    })
    if (back.length > 0) processing.onCalls()
  }
}

/** Reasons that mean somebody sent what he should not, or money that nobody booked. */
function logIgnored(call: LeasedCall, applied: readonly Applied[], log: Log): void {
  for (const one of applied) {
    if (one.kind !== 'ignored') continue
    const { reason, detail } = one.result
    const entry = { call: call.id, gateway: call.gateway, payment: one.payment?.id, reason, detail }
    if (reason === 'amount_mismatch') log.warn(entry, 'paid webhook amount/currency mismatch')
    else if (one.review) log.warn(entry, 'callback ignored; it needs a review')
    else log.info(entry, 'callback ignored')
  }
}

async function giveBack(
  call: LeasedCall,
  processing: Processing,
  error: unknown,
): Promise<CallResult> {
  processing.log.warn({ err: error, call: call.id }, 'passing database failure, will try again')
  const after = returnDelay(call.times_returned, processing.random)
  const { db } = processing.database
  for (let tries = 1; tries <= giveBackTries; tries += 1) {
    try {
      await returnLease(db, 'billing.webhook_calls', { lease: call, after })
      break
    } catch {
      await new Promise((resolve) => setTimeout(resolve, giveBackPauseMs))
    }
  }
  // If even that was in vain, the lease runs out and the sweeper takes the call back.
  return 'returned'
}

/** Deadlocks, lost connections and the like are nobody's fault, unless they never end. */
function passes(error: unknown, call: LeasedCall): boolean {
  return isPassing(error) && call.times_returned < returnsBeforeAttempt
}
