import { isPassing } from '../database/failure.ts'
import { mayReturn } from '../queue/retry.ts'
import { concludeCall } from './after-commit.ts'
import { isLeaseLost } from './finish-call.ts'
import { giveBack, leaveToOthers } from '../queue/give-back.ts'
import { isListenerMissing } from '../listeners/listeners.ts'
import type { CallResult, InterpretedCall, Processing } from './context.ts'
import { postponeCall } from './postpone-call.ts'
import { recordFailure, recordLostTransaction } from './record-failure.ts'
import { reportOf, claimsIn, settleIn, type Settled, type Settling } from './settle-in.ts'
import { isLostByListener } from '../listeners/tell-listeners.ts'

/** What calls of a batch came to; those without a result must go on, each by itself. */
export type BatchResults = ReadonlyMap<InterpretedCall, CallResult>

/** Settles one call in a transaction of its own. Rejects where the database stays away. */
export async function settleAlone(
  interpreted: InterpretedCall,
  processing: Processing,
): Promise<CallResult> {
  const settling: Settling = { batch: [interpreted], applied: [], current: undefined }
  let settled: Settled | undefined
  try {
    ;[settled] = await commit(settling, processing)
  } catch (error) {
    if (isListenerMissing(error)) return leave([interpreted], processing, error)
    return transactionLost(interpreted, processing, { error, applied: settling.applied[0] })
  }
  const result = await conclude(interpreted, settled, processing)
  if (result === undefined) throw new Error(`call ${interpreted.call.id} was passed over`)
  return result
}

/**
 * Settles calls in one transaction. Where that is lost, only the call whose listener broke it has
 * had its attempt. Never rejects.
 */
export async function settleBatch(
  batch: readonly InterpretedCall[],
  processing: Processing,
): Promise<BatchResults> {
  const [only] = batch
  if (only !== undefined && batch.length === 1) {
    return new Map([[only, await orLeft(only, processing, settleAlone(only, processing))]])
  }
  const settling: Settling = { batch, applied: [], current: undefined }
  let settled: readonly Settled[]
  try {
    settled = await commit(settling, processing)
  } catch (error) {
    if (isListenerMissing(error)) return leaveAll(batch, processing, error)
    processing.log.warn({ err: error, calls: batch.length }, 'a batch failed; each call goes alone')
    return blame(settling, processing, error)
  }
  const results = new Map<InterpretedCall, CallResult>()
  const concluding = batch.map(async (one, index) => {
    const result = await conclude(one, settled[index], processing)
    if (result !== undefined) results.set(one, result)
  })
  await Promise.all(concluding)
  return results
}

function commit(settling: Settling, processing: Processing): Promise<readonly Settled[]> {
  return processing.database.transaction((transaction) =>
    settleIn(transaction, settling, processing),
  )
}

/** Undefined: the call is left. */
async function conclude(
  { call }: InterpretedCall,
  settled: Settled | undefined,
  processing: Processing,
): Promise<CallResult | undefined> {
  if (settled === undefined || settled.kind === 'left') return undefined
  if (settled.kind === 'done') await concludeCall(call, processing, settled.committed)
  return settled.kind
}

async function blame(
  { batch, applied, current }: Settling,
  processing: Processing,
  error: unknown,
): Promise<BatchResults> {
  if (current === undefined || !isLostByListener(error)) return new Map()
  const lost = { error, applied: applied[batch.indexOf(current)] }
  const result = transactionLost(current, processing, lost)
  return new Map([[current, await orLeft(current, processing, result)]])
}

/** This process may not claim; nothing of the calls is applied, and no attempt of theirs is used. */
async function leave(
  batch: readonly InterpretedCall[],
  processing: Processing,
  error: unknown,
): Promise<'returned'> {
  const calls = batch.map(({ call }) => call)
  await leaveToOthers(calls, 'billing.webhook_calls', { ...processing, error })
  return 'returned'
}

async function leaveAll(
  batch: readonly InterpretedCall[],
  processing: Processing,
  error: unknown,
): Promise<BatchResults> {
  const leaving = leave(batch, processing, error)
  const results = batch.map(async (one) => [one, await orLeft(one, processing, leaving)] as const)
  return new Map(await Promise.all(results))
}

/** Where even the failure cannot be recorded, the lease runs out and another worker takes over. */
async function orLeft(
  { call }: InterpretedCall,
  { log }: Processing,
  result: Promise<CallResult>,
): Promise<CallResult> {
  try {
    return await result
  } catch (error) {
    log.error({ err: error, call: call.id }, 'lease left to run out')
    return 'lost'
  }
}

/**
 * The transaction of a call is gone. Whatever a listener did to it must not keep a paid payment
 * pending; what is nobody's fault costs the call no attempt.
 */
async function transactionLost(
  interpreted: InterpretedCall,
  processing: Processing,
  lost: { readonly error: unknown; readonly applied: Settling['applied'][number] | undefined },
): Promise<CallResult> {
  const { call } = interpreted
  const isReturnable = (error: unknown) => isPassing(error) && mayReturn(call)
  let { error } = lost
  if (!isLeaseLost(error) && !isReturnable(error)) {
    const report = reportOf(interpreted)
    const claims = claimsIn(lost.applied)
    try {
      return await recordLostTransaction(call, processing, { error, report, claims })
    } catch (second) {
      error = second
    }
  }
  if (isLeaseLost(error)) {
    const text = 'lease lost while processing; another worker has the call'
    processing.log.warn({ call: call.id }, text)
    return 'lost'
  }
  if (!isReturnable(error)) {
    if (await postponeCall(call, processing, error)) return 'returned'
    return recordFailure(call, processing, { error })
  }
  await giveBack(call, 'billing.webhook_calls', { ...processing, error })
  return 'returned'
}
