import { QuittanceError } from '../../kernel/errors.ts'
import type { Payment } from '../../payments/payment.ts'
import type { Credentials } from '../credential-fields.ts'
import { invalidReply, type Reply } from './api.ts'
import { scalarOf, type Fields } from './payload.ts'
import { isRefusal } from './refusals.ts'
import { authenticate } from './signature.ts'

/** Errors: `provider_refused` if nothing was done, otherwise `provider_unreachable`. */
export function acceptedFields(reply: Reply): Fields {
  if (reply.ok) return reply.fields
  const { call, code } = reply
  throw new QuittanceError(
    isRefusal(code) ? 'provider_refused' : 'provider_unreachable',
    `hutko answered ${call} with error code ${code}`,
    { providerCode: code },
  )
}

/**
 * The parameters of a reply that is signed, and about this payment's order. It comes from the
 * provider itself, so its names can be trusted, unlike those of a callback. Errors: those of
 * `acceptedFields`, and `provider_reply_invalid`.
 */
export function signedReply(
  reply: Reply,
  { id }: Pick<Payment, 'id'>,
  credentials: Credentials,
): Fields {
  const fields = acceptedFields(reply)
  const signed = authenticate({ version: '1.0', fields }, credentials)
  if (!signed.ok) throw invalidReply(reply.call, `a reply that is not signed: ${signed.reason}`)
  const about = [scalarOf(fields.get('order_id')), scalarOf(fields.get('merchant_id'))]
  if (about[0] !== id || about[1] !== credentials.settings.merchant_id) {
    throw invalidReply(reply.call, 'what is known of another order')
  }
  const parent = scalarOf(fields.get('parent_order_id')) ?? id
  if (parent !== id) throw invalidReply(reply.call, 'a part of another order')
  return fields
}
