import type { Transaction } from '../database/connect.ts'
import { classifyFailure, sqlStateOf } from '../database/failure.ts'
import type { BillingEvent } from '../events/catalogue.ts'
import { assertNever } from '../kernel/errors.ts'
import { returnLease, type LeasedCall } from '../queue/lease.ts'
import { mayReturn, returnDelay } from '../queue/retry.ts'
import type { Committed } from './after-commit.ts'
import { needsReview, type Report, type Applied, type Claim } from '../outcomes/applied.ts'
import { applyOutcomes } from '../outcomes/apply-outcomes.ts'
import { finishCalls, leaseLost } from './finish-call.ts'
import type { InterpretedCall, Processing } from './context.ts'
import { recordFailureIn } from './record-failure.ts'
import { hasQueuedListener, tellListeners, type Told } from '../listeners/tell-listeners.ts'

/** Calls being settled in a transaction that may yet be lost. */
export interface Settling {
  readonly batch: readonly InterpretedCall[]
  /** What the outcomes of each call came to, once they are applied. */
  applied: readonly (readonly Applied[])[]
  /** Whose listeners are being told. */
  current: InterpretedCall | undefined
}

/** What becomes of a call when the transaction commits; `left`: it goes on in one of its own. */
export type Settled =
  | { readonly kind: 'done'; readonly committed: Committed }
  | { readonly kind: 'failed' | 'returned' | 'left' }

interface Part {
  readonly call: LeasedCall
  readonly applied: readonly Applied[]
  readonly told: Told
}

/**
 * Settles calls: payments, claims, listeners, and the end of each call behind its lease token. Only
 * the listeners are told call by call, so that one that throws undoes its own call alone. Returns
 * what becomes of the calls in the order of the batch.
 */
export async function settleIn(
  transaction: Transaction,
  settling: Settling,
  processing: Processing,
): Promise<readonly Settled[]> {
  const parts = await tellParts(transaction, settling, processing)
  const finished = parts.flatMap(({ call, applied, told }) =>
    told.kind === 'told' ? [{ call, applied, won: idsOf(told.events) }] : [],
  )
  await finishCalls(transaction.db, finished)
  const settled: Settled[] = []
  for (const part of parts) settled.push(await endPart(transaction, part, processing))
  return settled
}

async function tellParts(
  transaction: Transaction,
  settling: Settling,
  processing: Processing,
): Promise<readonly Part[]> {
  const { batch } = settling
  const applied = await applyOutcomes(transaction.db, batch.map(reportOf), processing)
  settling.applied = applied
  const claims = batch.map(({ call }, index) => {
    const source = { cause: 'call', callId: call.id, queue: call.queue } as const
    return claimsIn(applied[index]).map((claim) => ({ claim, source }))
  })
  const onBegin = (index: number) => void (settling.current = batch[index])
  const told = await tellListeners(transaction, claims, { ...processing, onBegin })
  return batch.map(({ call }, index) => ({
    call,
    applied: applied[index] ?? [],
    told: told[index] ?? { kind: 'left' },
  }))
}

/** However a call ends, its payment keeps its new status; only a told one keeps its claims. */
async function endPart(
  transaction: Transaction,
  { call, applied, told }: Part,
  processing: Processing,
): Promise<Settled> {
  switch (told.kind) {
    case 'told': {
      const { events, afterCommit } = told
      const deliveries = events.some((event) => hasQueuedListener(processing.listeners, event))
      return { kind: 'done', committed: { applied, won: idsOf(events), deliveries, afterCommit } }
    }
    case 'failed': {
      if (isDatabaseTransient(told.error) && mayReturn(call)) {
        return giveBackIn(transaction, call, processing)
      }
      const paymentId = applied.find(({ payment }) => payment)?.payment?.id
      const about = { paymentId, review: needsReview(applied) }
      await recordFailureIn(transaction, call, { ...processing, ...told, ...about })
      return { kind: 'failed' }
    }
    case 'left':
      return { kind: 'left' }
    default:
      return assertNever(told)
  }
}

export function reportOf({ call, outcomes }: InterpretedCall): Report {
  return { gateway: call.gateway, outcomes, cause: 'call', callId: call.id }
}

export function claimsIn(applied: readonly Applied[] = []): readonly Claim[] {
  return applied.flatMap((one) => (one.kind === 'claim' ? [one.claim] : []))
}

function idsOf(events: readonly BillingEvent[]): ReadonlySet<string> {
  return new Set(events.map(({ id }) => id))
}

async function giveBackIn(
  transaction: Transaction,
  call: LeasedCall,
  { random }: Processing,
): Promise<Settled> {
  const after = returnDelay(call.times_returned, random)
  const table = 'billing.webhook_calls'
  if (!(await returnLease(transaction.db, table, { lease: call, after }))) throw leaseLost(call)
  return { kind: 'returned' }
}

/** Said by the server itself: a network error of a listener's may be of anybody's making. */
function isDatabaseTransient(error: unknown): boolean {
  return sqlStateOf(error) !== undefined && classifyFailure(error) === 'transient'
}
