import type { NewPayment } from '../database/payments.ts'
import type { Payment } from '../payments/payment.ts'

/** The row of a refund of this charge: what it shares with the charge, and what is its own. */
export function refundRow(
  charge: Payment,
  own: Pick<NewPayment, 'id' | 'amount' | 'providerReference'> & Partial<NewPayment>,
): NewPayment {
  const row: NewPayment = {
    id: own.id,
    type: 'refund',
    parentId: charge.id,
    gateway: charge.gateway,
    merchantAccount: charge.merchantAccount,
    live: charge.live,
    status: 'pending',
    amount: own.amount,
    currency: charge.currency,
    payable: charge.payable,
    description: charge.description,
    customer: charge.customer,
    metadata: null,
    returnUrl: null,
    checkoutReference: null,
    providerReference: own.providerReference,
    checkout: 'none',
    checkoutUrl: null,
    operationError: null,
    saveCard: false,
    paymentMethodId: null,
    periodId: null,
    expiresAt: null,
    isHanded: false,
    firstPollAfter: null,
  }
  return { ...row, ...own }
}
