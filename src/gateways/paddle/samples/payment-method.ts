import { sampleId, type SampleInput } from './event.ts'

/** A saved card as in notifications: without any details of the card. */
export function samplePaymentMethod({ paymentId, occurredAt }: SampleInput): object {
  return {
    id: sampleId('paymtd', paymentId),
    customer_id: sampleId('ctm', paymentId),
    address_id: sampleId('add', paymentId),
    type: 'card',
    origin: 'saved_during_purchase',
    saved_at: occurredAt,
    updated_at: occurredAt,
  }
}

export function sampleDeletedMethod(input: SampleInput): object {
  return { ...samplePaymentMethod(input), deletion_reason: 'api' }
}
