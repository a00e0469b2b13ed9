import type { PaymentOutcome, RefundedTotalOutcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import type { Applied, Entry } from './applied.ts'

/** Detail of a result: blocked money was let go, of a payment that nobody had paid by then. */
export const released = 'released'

/**
 * What the release of blocked money says of a payment that is paid: it had been taken, so that all
 * of it went back. Undefined for every other report.
 */
export function refundByRelease(
  { report, outcome }: Entry<PaymentOutcome>,
  applied: Applied,
  charge: Payment,
): Entry<RefundedTotalOutcome> | undefined {
  if (outcome.ifPaid !== 'refunded' || !isOvertaken(applied, charge)) return undefined
  const { merchantAccount, live, amount, currency } = outcome
  return {
    report,
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

/** The result, for a person where blocked money was let go that may not have been this payment's. */
export function reviewRelease(
  { outcome }: Entry<PaymentOutcome>,
  applied: Applied,
  charge: Payment,
): Applied {
  const isDoubtful = outcome.ifPaid === 'review' && isOvertaken(applied, charge)
  return isDoubtful ? { ...applied, review: true } : applied
}

/** The payment was paid when this was reported, or has been since, by the same batch perhaps. */
function isOvertaken(applied: Applied, { status }: Payment): boolean {
  if (status !== 'paid') return false
  if (applied.kind !== 'ignored') return applied.kind === 'claim'
  const { reason } = applied.result
  return reason === 'already_paid' || reason === 'already_settled'
}
