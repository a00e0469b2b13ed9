import type { Payment } from '../../payments/payment.ts'
import type { InterpretContext } from '../interpret-context.ts'
import { QuittanceError } from '../../kernel/errors.ts'
import type { JsonObject } from '../body/json.ts'
import { openClient, type StripeClient } from './api.ts'
import { isId, type Snapshot } from './payload.ts'
import { statedReference } from './reference.ts'
import { notAskedFor } from './api-change.ts'

type Bound = Pick<Payment, 'id' | 'live' | 'merchantAccount'>

/**
 * With a key of the payment's or subscription's mode, in its account. Errors: as `openClient`,
 * `payment_invalid`.
 */
export function clientFor(
  { live, merchantAccount }: Pick<Payment, 'live' | 'merchantAccount'>,
  context: InterpretContext,
): StripeClient {
  const account = merchantAccount ?? undefined
  if (account !== undefined && !isId(account, 'acct_')) {
    const text = 'merchant_account must be a connected account of Stripe (acct_...)'
    throw new QuittanceError('payment_invalid', text)
  }
  return openClient({ live: live ?? undefined, account }, context)
}

/** Whether an object is about live money, if it says so. */
export function modeOf(object: JsonObject): { readonly live?: boolean } {
  const live = object.get('livemode')
  return typeof live === 'boolean' ? { live } : {}
}

/** An object that was fetched for a payment. */
export function fetchedFor(payment: Bound, object: JsonObject): Snapshot {
  return {
    id: undefined,
    type: 'poll',
    live: modeOf(object).live,
    account: payment.merchantAccount ?? undefined,
    object,
    fetchedFor: payment.id,
  }
}

/** Whether an object names this payment as its own. */
export function isOf({ id }: Pick<Payment, 'id'>, object: JsonObject): boolean {
  const stated = statedReference(object)
  return stated?.ok === true && stated.paymentId === id
}

/** Error: `provider_reply_invalid` for an object of another payment. */
export function refuseOther(payment: Bound, object: JsonObject, what: string): void {
  if (statedReference(object) !== undefined && !isOf(payment, object)) throw notAskedFor(what)
}
