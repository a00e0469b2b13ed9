import type { OperationContext } from '../interpret-context.ts'
import type { RemoveCardRequest } from '../operations.ts'
import { requirePaddleApi } from './api.ts'
import { isId } from './payload.ts'

/**
 * Deletes the card of its customer; one that is gone already is no error.
 * https://developer.paddle.com/api-reference/payment-methods/delete-payment-method
 */
export async function removeSavedCard(
  { method }: RemoveCardRequest,
  context: OperationContext,
): Promise<void> {
  const { customerReference, providerReference } = method
  // Paddle has no card of another name.
  if (!isId(customerReference, 'ctm_') || !isId(providerReference, 'paymtd_')) return
  const methods = `customers/${customerReference}/payment-methods`
  await requirePaddleApi(context).remove(methods, providerReference)
}
