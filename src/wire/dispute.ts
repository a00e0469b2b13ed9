import { z } from 'zod'
import { disputeStatuses, type Dispute } from '../payments/dispute.ts'
import { amount, id, time } from './fields.ts'

/** A dispute of a payment. */
export const disputeSchema = z.strictObject({
  id,
  provider_reference: z.string(),
  status: z.enum(disputeStatuses),
  amount: amount.nullable(),
  currency: z.string().nullable(),
  created_at: time,
  updated_at: time,
})

export function disputeView(dispute: Dispute): z.output<typeof disputeSchema> {
  return {
    id: dispute.id,
    provider_reference: dispute.providerReference,
    status: dispute.status,
    amount: dispute.amount === null ? null : Number(dispute.amount),
    currency: dispute.currency,
    created_at: dispute.createdAt.toISOString(),
    updated_at: dispute.updatedAt.toISOString(),
  }
}
