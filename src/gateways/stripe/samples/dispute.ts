import { sampleAmount, type SampleInput } from './event.ts'
import { chargeId } from './intent.ts'

/** A chargeback that has not been answered yet. */
export function sampleDispute(input: SampleInput): object {
  return {
    id: `du_${input.idPart}`,
    object: 'dispute',
    amount: sampleAmount(input.amount),
    balance_transactions: [],
    charge: chargeId(input),
    created: input.createdAt,
    currency: input.currency,
    enhanced_eligibility_types: [],
    evidence: noEvidence,
    evidence_details: {
      due_by: input.createdAt + 7 * 86_400,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
    },
    intended_submission_method: 'manual',
    is_charge_refundable: false,
    livemode: input.live,
    // Without our reference: the payment is found by its intent.
    metadata: {},
    payment_intent: input.intentId,
    payment_method_details: {
      card: { brand: 'visa', case_type: 'chargeback', network_reason_code: '13.1' },
      type: 'card',
    },
    reason: 'product_not_received',
    status: 'needs_response',
  }
}

const noEvidence = {
  access_activity_log: null,
  billing_address: null,
  cancellation_policy: null,
  cancellation_policy_disclosure: null,
  cancellation_rebuttal: null,
  customer_communication: null,
  customer_email_address: 'olena@shop.example',
  customer_name: 'Olena Kovalenko',
  customer_purchase_ip: null,
  duplicate_charge_id: null,
  enhanced_evidence: {},
  product_description: null,
  receipt: null,
  refund_policy: null,
  shipping_date: null,
  shipping_tracking_number: null,
  uncategorized_file: null,
  uncategorized_text: null,
}
