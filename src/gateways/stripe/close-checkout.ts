import type { OperationContext } from '../interpret-context.ts'
import type { PollRequest } from '../operations.ts'
import type { StripeClient } from './api.ts'
import { clientFor } from './fetched.ts'
import { findHanded } from './find-handed.ts'
import { isId } from './payload.ts'
import { done, isRefusal, notAskedFor } from './api-change.ts'

/** What can be ended, how, and its status before and after. */
interface Closable {
  readonly path: string
  readonly verb: 'expire' | 'cancel'
  readonly closed: string
  readonly open: ReadonlySet<unknown>
}

/**
 * Expires the checkout, or cancels the intent if there is only an intent.
 * https://docs.stripe.com/api/checkout/sessions/expire
 */
export async function closeCheckout(
  request: PollRequest,
  context: OperationContext,
): Promise<'closed' | 'not_open'> {
  const client = clientFor(request.payment, context)
  const closable = await findClosable(request, client)
  if (closable === undefined) return 'not_open'
  const { path, verb, closed } = closable
  try {
    const object = await done(client.send({ method: 'post', path: `${path}/${verb}` }))
    const id = object.get('id')
    const isSame = isId(id) && path.endsWith(`/${id}`) && object.get('status') === closed
    if (!isSame) throw notAskedFor(`POST /${path}/${verb}`)
    return 'closed'
  } catch (error) {
    if (isRefusal(error) && !(await isOpen(closable, client))) return 'not_open'
    throw error
  }
}

/** Stripe has no error code for something that is no longer open. */
async function isOpen({ path, open }: Closable, client: StripeClient): Promise<boolean> {
  const object = await client.get(path)
  return object !== undefined && open.has(object.get('status'))
}

async function findClosable(
  request: PollRequest,
  client: StripeClient,
): Promise<Closable | undefined> {
  const { checkoutReference, providerReference, paymentMethodId } = request.payment
  if (isId(checkoutReference, 'cs_')) return session(checkoutReference)
  if (isId(providerReference, 'pi_')) return intent(providerReference)
  if (providerReference !== null) return undefined
  const isCharge = paymentMethodId !== null
  const listPath = isCharge ? 'v1/payment_intents' : 'v1/checkout/sessions'
  const id = (await findHanded(request, client, listPath))?.get('id')
  if (!isId(id)) return undefined
  return isCharge ? intent(id) : session(id)
}

function session(id: string): Closable {
  return {
    path: `v1/checkout/sessions/${id}`,
    verb: 'expire',
    closed: 'expired',
    open: new Set(['open']),
  }
}

function intent(id: string): Closable {
  return {
    path: `v1/payment_intents/${id}`,
    verb: 'cancel',
    closed: 'canceled',
    open: new Set([
      'requires_payment_method',
      'requires_confirmation',
      'requires_action',
      'requires_capture',
    ]),
  }
}
