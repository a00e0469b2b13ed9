import { sampleId, type SampleInput } from './event.ts'

export interface AdjustmentState {
  readonly action: 'refund' | 'chargeback' | 'chargeback_reverse'
  readonly status: 'pending_approval' | 'approved' | 'rejected'
  readonly share?: 'half' | 'rest'
}

/** An Adjustment as version 1 of the API renders it, every field included. */
export function sampleAdjustment(input: SampleInput, state: AdjustmentState): object {
  const { paymentId, currency, occurredAt } = input
  const { action, status, share } = state
  const total = String(shareOf(input.amount, share))
  const totals = { tax: '0', total, subtotal: total }
  const money = { ...totals, fee: '0', earnings: total, currency_code: currency, retained_fee: '0' }
  const id = sampleId('adj', paymentId, share === undefined ? action : `${action} ${share}`)
  const type = share === undefined ? 'full' : 'partial'
  return {
    id,
    items: [
      {
        id: sampleId('adjitm', id),
        type,
        amount: share === undefined ? null : total,
        totals,
        item_id: sampleId('txnitm', paymentId),
        proration: null,
      },
    ],
    action,
    type,
    reason: action === 'refund' ? 'requested_by_customer' : 'Chargeback',
    status,
    totals: money,
    created_at: occurredAt,
    updated_at: occurredAt,
    customer_id: sampleId('ctm', paymentId),
    currency_code: currency,
    payout_totals: money,
    transaction_id: input.transactionId,
    subscription_id: null,
    credit_applied_to_balance: null,
  }
}

function shareOf(amount: bigint, share: AdjustmentState['share']): bigint {
  const half = amount / 2n
  if (share === undefined) return amount
  return share === 'half' ? half : amount - half
}
