import type { Payment } from '../../payments/payment.ts'

/** What WayForPay calls the order of a payment: our id of it, or a scheduled charge's own name. */
export function orderReferenceOf({ id, providerReference }: Payment): string {
  return providerReference ?? id
}
