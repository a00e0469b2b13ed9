import type { Cause } from '../payments/payment.ts'
import { dispatchAlone, lostByListener } from '../listeners/dispatch-events.ts'
import { isListenerMissing } from '../listeners/listeners.ts'
import { claimsIn, type Applied, type Report } from '../outcomes/applied.ts'
import { applyOutcomes } from '../outcomes/apply-outcomes.ts'
import { retryPassing } from '../queue/retry-passing.ts'
import { retryDelay, returnDelay } from '../queue/retry.ts'
import { afterReport, type Committed } from './after-commit.ts'
import type { ProcessingContext } from './context.ts'
import { deferEvents, type Deferral } from './deferred-events.ts'
import { exceptionOf, isPassingInListener, type FailedAttempt } from './fail-attempt.ts'

/** What was learned of payments without a callback. */
export interface ProviderReport extends Omit<Report, 'callId'> {
  readonly cause: Exclude<Cause, 'call'>
  /** Of the deliveries to queued listeners. */
  readonly queue: string
}

/**
 * Applies a report in one transaction, by the same rules and with the same listeners as a callback.
 * A listener that fails undoes its own writes and the claims, not the payment's new status: the
 * event is deferred and retried. Where this process may not claim, the event is deferred as well,
 * for a process that has every listener. Returns the result of each outcome. Rejects if the
 * database stays away; nothing has changed then, and to report again is safe.
 */
export async function applyReport(
  report: ProviderReport,
  context: ProcessingContext,
): Promise<readonly Applied[]> {
  const committed = await commitReport(report, context)
  afterReport(report, context, committed)
  return committed.applied
}

async function commitReport(
  report: ProviderReport,
  context: ProcessingContext,
): Promise<Committed> {
  try {
    return await retryPassing(() => applyAndDispatch(report, context), context.random)
  } catch (error) {
    if (lostByListener(error) === undefined && !isListenerMissing(error)) throw error
    return retryPassing(() => applyAndDefer(report, error, context), context.random)
  }
}

function applyAndDispatch(report: ProviderReport, context: ProcessingContext): Promise<Committed> {
  const { cause, queue } = report
  return context.database.transaction(async (transaction) => {
    const { db } = transaction
    const applied = (await applyOutcomes(db, [{ ...report, callId: null }], context)).flat()
    const claims = claimsIn(applied)
    const source = { cause, callId: null, queue }
    const dispatched = await dispatchAlone(transaction, { source, claims }, context)
    if (dispatched.kind === 'failed') {
      await deferEvents(db, claims, deferralAfter(report, dispatched, context))
    }
    return { applied, dispatched }
  })
}

/**
 * A listener lost the transaction, or this process may not claim: the payments keep their new
 * status.
 */
function applyAndDefer(
  report: ProviderReport,
  error: unknown,
  context: ProcessingContext,
): Promise<Committed> {
  const lost = lostByListener(error)
  return context.database.transaction(async ({ db }) => {
    const applied = (await applyOutcomes(db, [{ ...report, callId: null }], context)).flat()
    const deferral =
      lost === undefined
        ? leftToOthers(report, error, context)
        : deferralAfter(report, lost, context)
    await deferEvents(db, claimsIn(applied), deferral)
    return { applied, dispatched: { kind: 'failed' } }
  })
}

/** No attempt is used. */
function leftToOthers(
  { cause, queue }: ProviderReport,
  error: unknown,
  { log }: ProcessingContext,
): Deferral {
  log.warn({ err: error }, 'an event is left to a process with every listener')
  return { cause, queue, attempts: 0, after: 0, exception: null }
}

function deferralAfter(
  { cause, queue }: ProviderReport,
  { listener, error }: Pick<FailedAttempt, 'listener' | 'error'>,
  { scrub, log, random, newId }: ProcessingContext,
): Deferral {
  log.warn({ err: error, listener }, 'a listener failed; its event is deferred')
  if (isPassingInListener(error)) {
    return { cause, queue, attempts: 0, after: returnDelay(0, random), exception: null }
  }
  return {
    cause,
    queue,
    attempts: 1,
    after: retryDelay(1) ?? 0,
    exception: exceptionOf({ error, listener, scrub }),
    failed: { newId, listener: listener ?? null },
  }
}
