import type { PaymentOutcome, RefundedTotalOutcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import type { Applied, Entry } from './applied.ts'

/** Detail of a result: blocked money was released, of a payment that was unpaid by then. */
export const released = 'released'

/**
 * What the release of blocked money means for a paid payment: it had been charged, so all of it
 * went back. Undefined for every other report.
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

/** The result, marked for a person if the blocked money may not have been this payment's. */
export function reviewRelease(
  { outcome }: Entry<PaymentOutcome>,
  applied: Applied,
  charge: Payment,
): Applied {
  const isDoubtful = outcome.ifPaid === 'review' && isOvertaken(applied, charge)
  return isDoubtful ? { ...applied, review: true } : applied
}

/**
 * Whether the payment was paid when this was reported, or has been since, perhaps by the same
 * batch.
 */
function isOvertaken(applied: Applied, { status }: Payment): boolean {
  if (status !== 'paid') return false
  if (applied.kind !== 'ignored') return applied.kind === 'claim'
  const { reason } = applied.result
  return reason === 'already_paid' || reason === 'already_settled'
}
