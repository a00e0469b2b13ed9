import { readUuid } from '../../kernel/uuid.ts'
import type { PaymentOutcome } from '../../payments/outcome.ts'

/** The charge that an order reference names. */
export type Charge = Pick<PaymentOutcome, 'payment' | 'providerReference' | 'renews'>

/** What WayForPay appends when it charges by schedule: the rule's number and the charge's. */
const scheduled = /^(.{36})_WFPREG-\d{1,18}-\d{1,18}$/

/**
 * Our payment's id, or that of the first payment with the suffix of a scheduled charge; each of
 * these charges is a payment of its own. Undefined for anything else.
 */
export function readCharge(orderReference: string): Charge | undefined {
  const id = readUuid(orderReference)
  if (id !== undefined) return { payment: { id } }
  const first = readUuid(scheduled.exec(orderReference)?.[1])
  if (first === undefined) return undefined
  return {
    payment: { providerReference: orderReference },
    providerReference: orderReference,
    renews: { id: first },
  }
}
