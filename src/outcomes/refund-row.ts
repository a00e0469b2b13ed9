import type { NewPayment } from '../database/payments.ts'
import type { Payment } from '../payments/payment.ts'

/** The row of a refund of this charge: what it shares with the charge, and what is its own. */
export function refundRow(
  charge: Payment,
  own: Pick<NewPayment, 'id' | 'amount' | 'providerReference'> & Partial<NewPayment>,
): NewPayment {
  return {
    ...charge,
    type: 'refund',
    parentId: charge.id,
    status: 'pending',
    checkout: 'none',
    checkoutReference: null,
    checkoutUrl: null,
    operationError: null,
    saveCard: false,
    paymentMethodId: null,
    returnUrl: null,
    expiresAt: null,
    metadata: null,
    isHanded: false,
    firstPollAfter: null,
    ...own,
  }
}
