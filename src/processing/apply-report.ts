import { exceptionText } from '../kernel/exception-text.ts'
import type { Cause } from '../payments/payment.ts'
import { callAttempts, nextTry } from '../queue/retry.ts'
import type { Applied, Claim, Report } from '../outcomes/applied.ts'
import { concludeReport } from './after-commit.ts'
import { applyOutcomes } from '../outcomes/apply-outcomes.ts'
import { deferDispatch, type Deferral } from './dispatch.ts'
import { insist } from '../queue/insist.ts'
import { isListenerMissing } from '../listeners/listeners.ts'
import type { Processing } from './context.ts'
import { claimsIn } from './settle-in.ts'
import { isLostByListener, tellListeners, type Told } from '../listeners/tell-listeners.ts'

/** What was learnt of payments by other means than a callback. */
export interface ProviderReport extends Omit<Report, 'callId'> {
  readonly cause: Exclude<Cause, 'call'>
  /** Of the deliveries to queued listeners. */
  readonly queue: string
}

/**
 * Applies a report in one transaction, by the same rules, claims and listeners as a callback. A
 * listener that fails undoes its own writes and the claims, not the payment's new status: a put-off
 * dispatch carries the retry. So it does where this process may not claim: what a provider has
 * answered is kept, and whoever has every listener tells of it. Returns what each outcome came to.
 * Rejects where the database stays away, having changed nothing: to report once more is safe.
 */
export function applyReport(
  report: ProviderReport,
  processing: Processing,
): Promise<readonly Applied[]> {
  return insist(() => applyOnce(report, processing), processing.random)
}

async function applyOnce(
  report: ProviderReport,
  processing: Processing,
): Promise<readonly Applied[]> {
  let lost: readonly Claim[] = []
  let result: { readonly applied: readonly Applied[]; readonly told: Told }
  try {
    result = await processing.database.transaction(async (transaction) => {
      const [applied = []] = await applyOutcomes(transaction.db, [withoutCall(report)], processing)
      const claims = claimsIn(applied)
      lost = claims
      const source = { cause: report.cause, callId: null, queue: report.queue } as const
      const [told] = await tellListeners(
        transaction,
        [claims.map((claim) => ({ claim, source }))],
        { ...processing, onBegin: () => {} },
      )
      if (told === undefined) throw new Error('nobody was told')
      if (told.kind === 'failed') {
        await deferDispatch(transaction.db, claims, afterFailure(report, told, processing))
      }
      return { applied, told }
    })
  } catch (error) {
    if (!isLostByListener(error) && !isListenerMissing(error)) throw error
    result = await applyWithout(report, { error, lost }, processing)
  }
  concludeReport(report, processing, result)
  return result.applied
}

/**
 * The transaction was cut or ended by a listener, or may not claim: the payments' status is kept all
 * the same.
 */
async function applyWithout(
  report: ProviderReport,
  { error, lost }: { readonly error: unknown; readonly lost: readonly Claim[] },
  processing: Processing,
): Promise<{ readonly applied: readonly Applied[]; readonly told: Told }> {
  const told = { kind: 'failed', listener: '', error } as const
  const applied = await processing.database.transaction(async ({ db }) => {
    const [again = []] = await applyOutcomes(db, [withoutCall(report)], processing)
    // What a listener has committed by itself is told again, to every listener.
    const ids = lost.map(({ eventId }) => eventId)
    if (ids.length > 0) await db.deleteFrom('billing.events').where('id', 'in', ids).execute()
    const deferral = isListenerMissing(error)
      ? leftToOthers(report, error, processing)
      : afterFailure(report, told, processing)
    await deferDispatch(db, claimsIn(again), deferral)
    return again
  })
  return { applied, told }
}

function withoutCall(report: ProviderReport): Report {
  return { ...report, callId: null }
}

/** No attempt was made. */
function leftToOthers(
  { cause, queue }: ProviderReport,
  error: unknown,
  { log }: Processing,
): Deferral {
  log.warn({ err: error }, 'an event is left to a process with every listener')
  return { cause, queue, attempts: 0, after: 0, exception: null }
}

function afterFailure(
  { cause, queue }: ProviderReport,
  { listener, error }: Told & { readonly kind: 'failed' },
  { scrub, log }: Processing,
): Deferral {
  log.warn({ err: error, listener }, 'a listener failed; its event is deferred')
  const next = nextTry(1, callAttempts)
  const where = listener === '' ? '' : `in listener ${listener}: `
  return {
    cause,
    queue,
    attempts: 1,
    after: next.kind === 'retry' ? next.after : 0,
    exception: where + exceptionText(error, scrub),
  }
}
