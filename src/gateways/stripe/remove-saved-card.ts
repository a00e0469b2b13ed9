import type { OperationContext } from '../interpret-context.ts'
import type { RemoveCardRequest } from '../operations.ts'
import { done, isRefusal, notAskedFor } from './api-change.ts'
import type { StripeClient } from './api.ts'
import { clientFor } from './fetched.ts'
import { isId } from './payload.ts'
import { methodPrefixes } from './read-payment-method.ts'

/**
 * Detaches the card from its customer: it can never be charged or attached again.
 * https://docs.stripe.com/api/payment_methods/detach
 */
export async function removeSavedCard(
  { method }: RemoveCardRequest,
  context: OperationContext,
): Promise<void> {
  const id = method.providerReference
  // Stripe has no card of another name.
  if (!isId(id, ...methodPrefixes)) return
  const client = clientFor(method, context)
  const path = `v1/payment_methods/${id}`
  try {
    const detached = await done(client.send({ method: 'post', path: `${path}/detach` }))
    if (detached.get('id') !== id || !isOwnerless(detached.get('customer'))) {
      throw notAskedFor(`POST /${path}/detach`)
    }
  } catch (error) {
    if (isRefusal(error) && (await isGone(path, client))) return
    throw error
  }
}

/** Stripe has no error code for a card that is detached already. */
async function isGone(path: string, client: StripeClient): Promise<boolean> {
  const method = await client.get(path)
  return method === undefined || isOwnerless(method.get('customer'))
}

function isOwnerless(customer: unknown): boolean {
  return customer === null
}
