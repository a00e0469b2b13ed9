import type { PaymentOutcome, RefundedTotalOutcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import type { Applied, Step } from './applied.ts'

/**
 * What the release of blocked money says of a payment that is paid: it had been taken, so that all
 * of it went back. Undefined for every other report.
 */
export function refundByRelease(
  { application, outcome }: Step<PaymentOutcome>,
  applied: Applied | undefined,
  charge: Payment,
): Step<RefundedTotalOutcome> | undefined {
  if (outcome.ifPaid !== 'refunded' || applied?.kind !== 'ignored') return undefined
  const { reason } = applied.result
  if (reason !== 'already_paid' && reason !== 'superseded') return undefined
  const { merchantAccount, live, amount, currency } = outcome
  return {
    application,
    outcome: {
      type: 'refund',
      status: 'paid',
      payment: { id: charge.id },
      refundedTotal: amount ?? charge.amount,
      currency: currency ?? charge.currency,
      ...(merchantAccount !== undefined && { merchantAccount }),
      ...(live !== undefined && { live }),
    },
  }
}
