import type { AccountStatement } from '../payments/outcome.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import type { Payment } from '../payments/payment.ts'

/** What ties a statement made here to the account and the mode of a payment, or of a card. */
export function statementOf({
  merchantAccount,
  live,
}: Pick<Payment | PaymentMethod, 'merchantAccount' | 'live'>): AccountStatement {
  return {
    ...(merchantAccount !== null && { merchantAccount }),
    ...(live !== null && { live }),
  }
}
