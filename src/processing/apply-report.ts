import type { Kysely } from 'kysely'
import { recordCheckouts, type CheckoutAnswer } from '../database/checkouts.ts'
import type { Tables } from '../database/tables.ts'
import { dispatchEvents, lostByListener } from '../listeners/dispatch-events.ts'
import { isListenerMissing } from '../listeners/listeners.ts'
import { claimsIn, type Applied, type Report } from '../outcomes/applied.ts'
import { applyOutcomes } from '../outcomes/apply-outcomes.ts'
import type { Cause, Payment } from '../payments/payment.ts'
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
  /** What came of the one request for a payment: it is written with what it says. */
  readonly answer?: (CheckoutAnswer & { readonly paymentId: string }) | undefined
}

/** The result of each outcome, and the payment as the answer was written on it. */
export interface AppliedReport {
  readonly applied: readonly Applied[]
  readonly answered: Payment | undefined
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
  return (await applyAlone(report, context)).applied
}

/**
 * The same for several reports in one transaction. The events of one whose listeners have no room
 * there are deferred with what it has moved: nothing else would tell of them if the process ended.
 * Where the transaction fails, each report is applied alone.
 */
export async function applyReports(
  reports: readonly ProviderReport[],
  context: ProcessingContext,
): Promise<readonly PromiseSettledResult<AppliedReport>[]> {
  const together = reports.length > 1 ? await applyTogether(reports, context) : []
  return Promise.allSettled(
    reports.map(async (report, index) => together[index] ?? applyAlone(report, context)),
  )
}

async function applyTogether(
  reports: readonly ProviderReport[],
  context: ProcessingContext,
): Promise<readonly AppliedReport[]> {
  try {
    const committed = await commit(reports, context)
    return committed.map((one) => follow(one.report, one, context))
  } catch (error) {
    context.log.info({ err: error }, 'reports are applied one by one')
    return []
  }
}

async function applyAlone(
  report: ProviderReport,
  context: ProcessingContext,
): Promise<AppliedReport> {
  const { random } = context
  try {
    const [one] = await retryPassing(() => commit([report], context), random)
    // Stryker disable next-line all: there is one for each report
    if (one === undefined) throw new Error('a report was passed over')
    return follow(report, one, context)
  } catch (error) {
    if (lostByListener(error) === undefined && !isListenerMissing(error)) throw error
    const deferred = await retryPassing(() => applyAndDefer(report, error, context), random)
    return follow(report, deferred, context)
  }
}

function follow(
  report: ProviderReport,
  { applied, dispatched, answered }: AppliedReport & Committed,
  context: ProcessingContext,
): AppliedReport {
  afterReport(report, context, { applied, dispatched })
  return { applied, answered }
}

/** One transaction: write the answers, lock, decide, move; then claim, listeners. */
function commit(reports: readonly ProviderReport[], context: ProcessingContext) {
  return context.database.transaction(async (transaction) => {
    const { db } = transaction
    const applied = await applyAll(db, reports, context)
    const sources = applied.map(({ report, applied: results, answered }) => {
      const { cause, queue } = report
      const source = { cause, callId: null, queue }
      return { report, applied: results, answered, source, claims: claimsIn(results) }
    })
    const dispatched = await dispatchEvents(transaction, sources, context)
    const all: (AppliedReport & Committed & { readonly report: ProviderReport })[] = []
    for (const { dispatched: end, claims, ...one } of dispatched) {
      if (end.kind === 'failed') {
        await deferEvents(db, claims, deferralAfter(one.report, end, context))
      }
      if (end.kind === 'left') await deferEvents(db, claims, atOnce(one.report))
      all.push({ ...one, dispatched: end.kind === 'left' ? { kind: 'failed' } : end })
    }
    return all
  })
}

async function applyAll(
  db: Kysely<Tables>,
  reports: readonly ProviderReport[],
  context: ProcessingContext,
) {
  const answered = await recordCheckouts(
    db,
    reports.flatMap(({ answer }) => answer ?? []),
  )
  const all = reports.map((report) => ({ ...report, callId: null }))
  const applied = await applyOutcomes(db, all, context)
  return reports.map((report, index) => ({
    report,
    applied: applied[index] ?? [],
    answered: answered.get(report.answer?.paymentId ?? ''),
  }))
}

/**
 * A listener lost the transaction, or this process may not claim: the payments keep their new
 * status.
 */
function applyAndDefer(
  report: ProviderReport,
  error: unknown,
  context: ProcessingContext,
): Promise<AppliedReport & Committed> {
  const lost = lostByListener(error)
  return context.database.transaction(async ({ db }) => {
    const [one] = await applyAll(db, [report], context)
    const { applied = [], answered } = one ?? {}
    const deferral =
      lost === undefined
        ? leftToOthers(report, error, context)
        : deferralAfter(report, lost, context)
    await deferEvents(db, claimsIn(applied), deferral)
    return { applied, answered, dispatched: { kind: 'failed' } }
  })
}

function leftToOthers(
  report: ProviderReport,
  error: unknown,
  { log }: ProcessingContext,
): Deferral {
  log.warn({ err: error }, 'an event is left to a process with every listener')
  return atOnce(report)
}

/** No attempt is used. */
function atOnce({ cause, queue }: ProviderReport): Deferral {
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
