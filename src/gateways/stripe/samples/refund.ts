import { sampleAmount, type SampleInput } from './event.ts'
import { chargeId } from './intent.ts'

export interface RefundState {
  /** Distinguishes the refunds of one payment. */
  readonly suffix: string
  readonly amount: bigint
}

/** A refund requested through the API, as Stripe 2026-10-28 renders it. */
export function sampleRefund(input: SampleInput, { suffix, amount }: RefundState): object {
  return {
    id: `re_${input.idPart}${suffix}`,
    object: 'refund',
    amount: sampleAmount(amount),
    balance_transaction: `txn_${input.idPart}${suffix}`,
    charge: chargeId(input),
    created: input.createdAt,
    currency: input.currency,
    customer: null,
    customer_account: null,
    destination_details: { card: { type: 'refund' }, type: 'card' },
    metadata: { payment_id: input.paymentId },
    payment_intent: input.intentId,
    payment_method: null,
    reason: 'requested_by_customer',
    receipt_number: null,
    source_transfer_reversal: null,
    status: 'succeeded',
    transfer_reversal: null,
  }
}
