import type { OperationContext } from '../interpret-context.ts'
import type { RemoveCardRequest } from '../operations.ts'
import { refuseIfOff } from './refuse-if-off.ts'

/** There is nothing to remove. */
export async function removeSavedCard(
  _request: RemoveCardRequest,
  context: OperationContext,
): Promise<void> {
  refuseIfOff(context)
}
