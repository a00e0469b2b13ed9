import type { Kysely } from 'kysely'
import { closeUnsaid } from '../database/reviews.ts'
import type { Tables } from '../database/tables.ts'
import { assertNever } from '../kernel/errors.ts'
import type { SourceClaims } from '../listeners/claim-events.ts'
import type { DispatchedSource } from '../listeners/dispatch-events.ts'
import type { Dispatched } from '../listeners/run-listeners.ts'
import { claimsIn, needsReview, type Applied, type Report } from '../outcomes/applied.ts'
import { webhookCalls, type LeasedCall } from '../queue/calls.ts'
import type { ProcessingContext } from './context.ts'
import { failCall, returnIfPassing } from './fail-attempt.ts'
import { finishCalls, paymentIdOf } from './finish-calls.ts'
import type { InterpretedCall } from './interpret-call.ts'

/**
 * - `done`: processed or ignored, its claims committed;
 * - `failed`: an attempt is used up; it will be retried or is `failed` for good;
 * - `returned`: a passing failure of the database or the provider, no attempt used;
 * - `lost`: another worker has the lease; nothing of ours is committed.
 */
export type CallEnd = 'done' | 'failed' | 'returned' | 'lost'

/** What becomes of a call when its transaction commits; `left`: it goes on in one of its own. */
export type EndedCall =
  | {
      readonly kind: 'done'
      readonly call: LeasedCall
      readonly applied: readonly Applied[]
      readonly dispatched: Dispatched
    }
  | {
      readonly kind: 'failed'
      readonly call: LeasedCall
      readonly applied: readonly Applied[]
      readonly error: unknown
      readonly listener: string
    }
  | {
      readonly kind: 'returned'
      readonly call: LeasedCall
      readonly applied: readonly Applied[]
      readonly error: unknown
    }
  | { readonly kind: 'left'; readonly call: LeasedCall }

/** A call, the results of its outcomes, and what they claim. */
export interface AppliedCall extends SourceClaims {
  readonly call: LeasedCall
  readonly applied: readonly Applied[]
}

type DispatchedCall = DispatchedSource<AppliedCall>

/** What the callback of a call says, as a report. */
export function reportOf({ call, outcomes }: InterpretedCall): Report {
  return { gateway: call.gateway, outcomes, cause: 'call', callId: call.id, queue: call.queue }
}

/** Each call with what was applied of it; `results` are in the order of the calls. */
export function appliedCalls(
  calls: readonly InterpretedCall[],
  results: readonly (readonly Applied[])[],
): readonly AppliedCall[] {
  return calls.map(({ call, span }, index) => {
    // Stryker disable next-line ArrayDeclaration: every call has its results
    const applied = results[index] ?? []
    const source = { cause: 'call', callId: call.id, queue: call.queue, span } as const
    return { call, applied, source, claims: claimsIn(applied) }
  })
}

/** Ends calls in the transaction that applied them, behind their leases. Throws `leaseLost`. */
export async function endCalls(
  db: Kysely<Tables>,
  calls: readonly DispatchedCall[],
  context: ProcessingContext,
): Promise<readonly EndedCall[]> {
  const finishing = calls.flatMap(finished)
  const marked = finishing.filter(({ call }) => call.needs_review === true)
  const stillMarked = await closeUnsaid(
    db,
    marked.map(({ call }) => call.id),
  )
  await finishCalls(db, finishing, stillMarked)
  const ended: EndedCall[] = []
  for (const call of calls) ended.push(await endCall(db, call, context))
  return ended
}

function finished({ call, applied, dispatched }: DispatchedCall) {
  if (dispatched.kind !== 'dispatched') return []
  return [{ call, applied, won: new Set(dispatched.events.map(({ id }) => id)) }]
}

async function endCall(
  db: Kysely<Tables>,
  { call, applied, dispatched }: DispatchedCall,
  context: ProcessingContext,
): Promise<EndedCall> {
  switch (dispatched.kind) {
    case 'dispatched':
      return { kind: 'done', call, applied, dispatched }
    case 'failed': {
      const { error, listener } = dispatched
      const { newId, random, scrub } = context
      if (await returnIfPassing(db, webhookCalls, { leased: call, error, random })) {
        return { kind: 'returned', call, applied, error }
      }
      await failCall(db, call, { error, listener, newId, scrub, ...knownOf(applied) })
      return { kind: 'failed', call, applied, error, listener }
    }
    case 'left':
      return { kind: 'left', call }
    // Stryker disable next-line ConditionalExpression: there is no other kind
    default:
      return assertNever(dispatched)
  }
}

/** What is known of a call once its outcomes are applied: its charge, and its mark for a person. */
export function knownOf(applied: readonly Applied[]) {
  return { paymentId: paymentIdOf(applied), review: needsReview(applied) }
}
