import type { PaymentOutcome, RefundedTotalOutcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import type { Applied, Step } from './applied.ts'

/** Detail of a result: blocked money was let go, of a payment that nobody had paid by then. */
export const released = 'released'

/**
 * What the release of blocked money says of a payment that is paid: it had been taken, so that all
 * of it went back. Undefined for every other report.
 */
export function refundByRelease(
  { application, outcome }: Step<PaymentOutcome>,
  applied: Applied,
  charge: Payment,
): Step<RefundedTotalOutcome> | undefined {
  if (outcome.ifPaid !== 'refunded' || !isOvertaken(applied, charge)) return undefined
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

/** The payment was paid when this was reported, or has been since, by the same batch perhaps. */
function isOvertaken(applied: Applied, charge: Payment): boolean {
  if (applied.kind === 'claim') return charge.status === 'paid'
  return applied.kind === 'ignored' && applied.result.reason === 'already_paid'
}
