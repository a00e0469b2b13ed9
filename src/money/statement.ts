import type { AccountStatement } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'

/** What ties a statement made here to the account and the mode of a payment. */
export function statementOf({ merchantAccount, live }: Payment): AccountStatement {
  return {
    ...(merchantAccount !== null && { merchantAccount }),
    ...(live !== null && { live }),
  }
}
