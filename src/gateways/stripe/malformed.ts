import { ignored, type Outcome } from '../../payments/outcome.ts'
import { isJsonObject } from '../body/json.ts'
import type { Snapshot } from './payload.ts'
import { namedReference } from './reference.ts'

/** These events mean that nothing was paid. */
const unpaid = /\.(?:expired|canceled|payment_failed|async_payment_failed)$/

/** A checkout or an intent in a form other than Stripe's: our money, if it names a payment. */
export function malformed({ type, object }: Snapshot, field: string): Outcome {
  if (unpaid.test(type)) return ignored('malformed_payload', field, { money: false })
  // Something without fields does not say whose it is.
  if (!isJsonObject(object)) return ignored('malformed_payload', field)
  const reference = namedReference(object)
  const about = reference?.ok
    ? { money: true, payment: { id: reference.paymentId } }
    : { money: false }
  return ignored('malformed_payload', field, about)
}
