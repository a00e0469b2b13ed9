import type { OperationContext } from '../interpret-context.ts'
import type { PollRequest } from '../operations.ts'
import { refuseIfOff } from './refuse-if-off.ts'

export async function closeCheckout(
  _request: PollRequest,
  context: OperationContext,
): Promise<'closed'> {
  refuseIfOff(context)
  return 'closed'
}
