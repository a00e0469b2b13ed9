import { exceptionText } from '../kernel/exception-text.ts'
import type { Outcome } from '../payments/outcome.ts'
import type { Cause } from '../payments/payment.ts'
import { callAttempts, nextTry } from '../queue/retry.ts'
import type { Applied, Application, Claim } from './applied.ts'
import { concludeReport } from './after-commit.ts'
import { applyOutcomes } from './apply-outcomes.ts'
import { deferDispatch } from './dispatch.ts'
import { insist } from './insist.ts'
import type { Processing } from './process-call.ts'
import { claimsIn } from './settle-in.ts'
import { isLostByListener, tellListeners, type Told } from './tell-listeners.ts'

/** What was learnt of payments by other means than a callback. */
export interface Report {
  readonly gateway: string
  readonly outcomes: readonly Outcome[]
  readonly cause: Exclude<Cause, 'call'>
  /** Of what queued listeners are told by. */
  readonly queue: string
}

/**
 * Applies a report in one transaction, by the same rules, claims and listeners as a callback. A
 * listener that fails undoes its own writes and the claims, not the payment's new status: a put-off
 * dispatch carries the retry. Returns what each outcome came to. Rejects where the database stays
 * away, having changed nothing: to report once more is safe.
 */
export function applyReport(report: Report, processing: Processing): Promise<readonly Applied[]> {
  const application = { ...report, callId: null }
  return insist(() => applyOnce(report, application, processing), processing.random)
}

async function applyOnce(
  report: Report,
  application: Application,
  processing: Processing,
): Promise<readonly Applied[]> {
  let lost: readonly Claim[] = []
  let result: { readonly applied: readonly Applied[]; readonly told: Told }
  try {
    result = await processing.database.transaction(async (transaction) => {
      const [applied = []] = await applyOutcomes(transaction.db, [application], processing)
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
    if (!isLostByListener(error)) throw error
    result = await applyWithout(application, { report, error, lost }, processing)
  }
  concludeReport(report, processing, result)
  return result.applied
}

/** The transaction was cut or ended by a listener: the payments' status is kept all the same. */
async function applyWithout(
  application: Application,
  {
    report,
    error,
    lost,
  }: { readonly report: Report; readonly error: unknown; readonly lost: readonly Claim[] },
  processing: Processing,
): Promise<{ readonly applied: readonly Applied[]; readonly told: Told }> {
  const told = { kind: 'failed', listener: '', error } as const
  const applied = await processing.database.transaction(async ({ db }) => {
    const [again = []] = await applyOutcomes(db, [application], processing)
    // What a listener has committed by itself is told again, to every listener.
    const ids = lost.map(({ eventId }) => eventId)
    if (ids.length > 0) await db.deleteFrom('billing.events').where('id', 'in', ids).execute()
    await deferDispatch(db, claimsIn(again), afterFailure(report, told, processing))
    return again
  })
  return { applied, told }
}

function afterFailure(
  { cause, queue }: Report,
  { listener, error }: Told & { readonly kind: 'failed' },
  { scrub, log }: Processing,
) {
  log.warn({ err: error, listener }, 'a listener failed; its event is put off')
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
