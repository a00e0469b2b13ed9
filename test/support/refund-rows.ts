import type { RefundRow } from '../../src/payments/match-refund.ts'
import type { RefundOutcome, SingleRefundOutcome } from '../../src/payments/outcome.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { pendingPayment } from './pending-payment.ts'

/** A paid charge, rows of its refunds, and reports of them: no database knows any of it. */
export const charge = pendingPayment({ gateway: 'stripe', status: 'paid' })

export function rowOf(id: string, fields: Partial<Payment> = {}, claimed = true): RefundRow {
  const refund = { ...charge, id, type: 'refund', parentId: charge.id, ...fields } as const
  return { refund, claimed, underWay: false }
}

export const single = (fields: Partial<SingleRefundOutcome> = {}): SingleRefundOutcome => ({
  type: 'refund',
  payment: { id: charge.id },
  status: 'paid',
  amount: 1_000n,
  currency: 'USD',
  refundReference: 're_1',
  ...fields,
})
export const total = (refundedTotal: bigint): RefundOutcome => ({
  type: 'refund',
  payment: { id: charge.id },
  status: 'paid',
  currency: 'USD',
  refundedTotal,
})

/** One that we asked for, and nobody has answered. */
export const pending = (id: string, amount = 1_000n) => rowOf(id, { status: 'pending', amount })
