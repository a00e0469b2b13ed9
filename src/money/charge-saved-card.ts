import { assertNever } from '../kernel/errors.ts'
import type { Payment } from '../payments/payment.ts'
import { attemptCharge } from './attempt-charge.ts'
import type { MoneyContext } from './context.ts'

/**
 * Charges the saved card of a payment whose row is committed as `unknown`, for whoever asked for
 * that. A declined card fails the payment. Errors: `checkout_refused`, and `checkout_unknown`,
 * after which a poll finds out what happened.
 */
export async function chargeSavedCard(
  payment: Payment,
  initiatedBy: 'customer' | 'merchant',
  context: MoneyContext,
): Promise<Payment> {
  const result = await attemptCharge(payment, initiatedBy, context)
  switch (result.kind) {
    case 'paid':
    case 'declined':
    case 'pending':
    case 'canceled':
      return result.payment
    case 'refused_by_us':
    case 'card_unusable':
    case 'unknown':
      throw result.error
    default:
      return assertNever(result)
  }
}
