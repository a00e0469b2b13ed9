import { isQuittanceError } from '../../kernel/errors.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { RemoveCardRequest } from '../operations.ts'
import { monobankApi } from './api.ts'

const path = 'api/merchant/wallet/card'

/**
 * Removes a card from its wallet. The bank knows it by its token alone: without a stored one there
 * is nothing to ask for, and nobody here can charge it.
 */
export async function removeSavedCard(
  { token }: RemoveCardRequest,
  context: OperationContext,
): Promise<void> {
  if (token === null) return
  try {
    await monobankApi(context).remove(path, { cardToken: token.reveal() })
  } catch (error) {
    const isGone = isQuittanceError(error) && error.providerCode === 'TOKEN_NOT_FOUND'
    if (!isGone) throw error
  }
}
