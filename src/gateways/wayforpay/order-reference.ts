import type { Payment } from '../../payments/payment.ts'

/** WayForPay's reference of a payment's order: our id, or a scheduled charge's own reference. */
export function orderReferenceOf({ id, providerReference }: Payment): string {
  return providerReference ?? id
}
