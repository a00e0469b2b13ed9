import { sql, type Kysely } from 'kysely'
import type { Database, Transaction } from '../database/connect.ts'
import { isPassing } from '../database/failure.ts'
import type { Tables } from '../database/tables.ts'
import { exceptionText } from '../kernel/exception-text.ts'
import type { Log } from '../kernel/log.ts'
import { failLease, type LeasedCall } from '../queue/lease.ts'
import { callAttempts, nextTry } from '../queue/retry.ts'
import {
  needsReview,
  subjectIds,
  type Report,
  type Applying,
  type Claim,
} from '../outcomes/applied.ts'
import { applyOutcomes } from '../outcomes/apply-outcomes.ts'
import { leaseLost } from './finish-call.ts'

interface Recording {
  readonly database: Database
  readonly log: Log
  scrub(text: string): string
}

/** Records an attempt that failed outside a transaction; nothing of it was committed. */
export async function recordFailure(
  call: LeasedCall,
  recording: Recording,
  { error }: { readonly error: unknown },
): Promise<'failed' | 'lost'> {
  const recorded = await record(recording.database.db, call, { ...recording, error })
  return recorded ? 'failed' : 'lost'
}

/** Records a listener's failure beside the payment's new status: both commit, the claims do not. */
export async function recordFailureIn(
  transaction: Transaction,
  call: LeasedCall,
  failure: Omit<Recording, 'database'> & {
    readonly error: unknown
    readonly listener: string
    readonly paymentId: string | undefined
    readonly review: boolean
  },
): Promise<void> {
  if (!(await record(transaction.db, call, failure))) throw leaseLost(call)
}

const lostTransactionTries = 5
const lostTransactionPauseMs = 1_000

/**
 * The transaction was cut or ended by a listener: a second, short one applies the payments' status
 * and records the attempt, so that no listener keeps a paid payment `pending`. Claims that a
 * listener committed on its own are taken back, so that the retry tells every listener.
 */
export async function recordLostTransaction(
  call: LeasedCall,
  recording: Recording & Applying,
  lost: {
    readonly error: unknown
    readonly report: Report
    readonly claims: readonly Claim[]
  },
): Promise<'failed'> {
  const eventIds = lost.claims.map((claim) => claim.eventId)
  for (let tries = 1; ; tries += 1) {
    try {
      await recording.database.transaction(async ({ db }) => {
        const [applied = []] = await applyOutcomes(db, [lost.report], recording)
        await sql`delete from billing.events where id = any(${eventIds}::uuid[])`.execute(db)
        const paymentId = paymentIdIn(lost.claims)
        const failure = { error: lost.error, paymentId, review: needsReview(applied) }
        const recorded = await record(db, call, { ...recording, ...failure })
        if (!recorded) throw leaseLost(call)
      })
      return 'failed'
    } catch (error) {
      // The cut transaction may hold its locks until the server notices.
      if (!isPassing(error) || tries >= lostTransactionTries) throw error
      await new Promise((resolve) => setTimeout(resolve, lostTransactionPauseMs))
    }
  }
}

/** The payment that the first of the events is about. */
function paymentIdIn([first]: readonly Claim[]): string | undefined {
  return first && (subjectIds(first.subject).paymentId ?? undefined)
}

async function record(
  db: Kysely<Tables>,
  call: LeasedCall,
  failure: Omit<Recording, 'database'> & {
    readonly error: unknown
    readonly listener?: string
    readonly paymentId?: string | undefined
    readonly review?: boolean
  },
): Promise<boolean> {
  const { error, listener, log, paymentId, review } = failure
  const attempt = call.attempts + 1
  const next = nextTry(attempt, callAttempts)
  const entry = { err: error, call: call.id, gateway: call.gateway, attempt, listener }
  if (next.kind === 'give_up') log.error(entry, 'call failed: no attempts left')
  else log.warn({ ...entry, retryInSeconds: next.after / 1000 }, 'attempt failed, will be retried')
  const where = listener === undefined ? '' : `in listener ${listener}: `
  return failLease(db, 'billing.webhook_calls', {
    lease: call,
    after: next.kind === 'retry' ? next.after : undefined,
    exception: where + exceptionText(error, failure.scrub),
    paymentId,
    review,
  })
}
