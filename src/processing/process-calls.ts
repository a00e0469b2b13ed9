import { dispatchEvents } from '../listeners/dispatch-events.ts'
import type { OpenSpan } from '../kernel/spans.ts'
import { applyOutcomes } from '../outcomes/apply-outcomes.ts'
import type { LeasedCall } from '../queue/calls.ts'
import { afterCommit } from './after-commit.ts'
import { afterFailure, afterRollback } from './after-rollback.ts'
import { inCallSpan, markEnd } from './call-span.ts'
import type { ProcessingContext } from './context.ts'
import { appliedCalls, endCalls, reportOf, type CallEnd, type EndedCall } from './end-calls.ts'
import { interpretCall, type InterpretedCall, type UninterpretedCall } from './interpret-call.ts'

/**
 * The job of one call: interpret what its callback says, then apply, dispatch and finish. A worker
 * runs the two halves apart, the second one for several calls together. Never rejects.
 */
export async function processCall(call: LeasedCall, context: ProcessingContext): Promise<CallEnd> {
  return inCallSpan(call, context, async (span) => {
    const interpreted = await interpret(call, context, span)
    if ('error' in interpreted) return afterFailure(interpreted, context)
    const [end] = await processInterpreted([interpreted], context)
    // Stryker disable next-line all: a single call is never left
    if (end === undefined || end === 'left') throw new Error(`call ${call.id} was passed over`)
    return end
  })
}

/** What a callback says; or why that is not known. May ask the provider. Never rejects. */
export async function interpret(
  call: LeasedCall,
  context: ProcessingContext,
  span?: OpenSpan,
): Promise<InterpretedCall | UninterpretedCall> {
  try {
    return { call, outcomes: await interpretCall(call, context), span }
  } catch (error) {
    span?.threw(error)
    return { call, error }
  }
}

/**
 * The transaction of interpreted calls, one or many. A call that is `left` needs a transaction of
 * its own; a single one never is. However a call ends, its payments keep their new status; it keeps
 * its claims only if its listeners have run. Never rejects.
 */
export async function processInterpreted(
  calls: readonly InterpretedCall[],
  context: ProcessingContext,
): Promise<readonly (CallEnd | 'left')[]> {
  let ended: readonly EndedCall[]
  try {
    ended = await context.database.transaction(async (transaction) => {
      const { db } = transaction
      // Lock, decide, move.
      const applied = await applyOutcomes(db, calls.map(reportOf), context)
      // Savepoint, claim, listeners.
      const dispatched = await dispatchEvents(transaction, appliedCalls(calls, applied), context)
      // Finish, fail or return, by lease.
      return endCalls(db, dispatched, context)
    })
  } catch (error) {
    return afterRollback(calls, error, context)
  }
  for (const [index, { span }] of calls.entries()) {
    const end = ended[index]
    if (span !== undefined && end !== undefined) markEnd(span, end)
  }
  return Promise.all(ended.map((end) => afterCommit(end, context)))
}
