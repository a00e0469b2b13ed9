import type { Outcome } from '../payments/outcome.ts'
import type { LeasedCall } from '../queue/lease.ts'
import type { CallResult, Going, Processing } from './context.ts'
import { interpretCall } from './interpret-call.ts'
import { postponeCall } from './postpone-call.ts'
import { recordFailure } from './record-failure.ts'
import { settleAlone } from './settle-calls.ts'

/** The job: load -> interpret -> apply -> done. */
export async function processCall(
  call: LeasedCall,
  processing: Processing,
  { settle = settleAlone, watch = (_gateway, interpret) => interpret() }: Going = {},
): Promise<CallResult> {
  let outcomes: readonly Outcome[]
  try {
    outcomes = await watch(call.gateway, () => interpretCall(call, processing))
  } catch (error) {
    if (await postponeCall(call, processing, error)) return 'returned'
    return recordFailure(call, processing, { error })
  }
  return settle({ call, outcomes }, processing)
}
