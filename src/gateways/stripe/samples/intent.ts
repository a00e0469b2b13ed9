import { sampleAmount, type SampleInput } from './event.ts'
import { methodId, sampleMethod } from './payment-method.ts'

export type IntentState = 'succeeded' | 'processing' | 'requires_payment_method' | 'canceled'

/** A PaymentIntent as Stripe 2026-10-28 renders it, every field included. */
export function sampleIntent(input: SampleInput, status: IntentState): object {
  const { createdAt, intentId } = input
  const amount = sampleAmount(input.amount)
  const succeeded = status === 'succeeded'
  const tried = status !== 'canceled'
  return {
    ...untouchedSettings,
    id: intentId,
    object: 'payment_intent',
    amount,
    amount_received: succeeded ? amount : 0,
    canceled_at: status === 'canceled' ? createdAt : null,
    cancellation_reason: status === 'canceled' ? 'abandoned' : null,
    client_secret: `${intentId}_secret_sample`,
    created: createdAt - 60,
    currency: input.currency,
    last_payment_error: status === 'requires_payment_method' ? declineOf(input) : null,
    latest_charge: tried ? chargeId(input) : null,
    livemode: input.live,
    metadata: { payment_id: input.paymentId },
    payment_method: succeeded || status === 'processing' ? methodId(input) : null,
    status,
  }
}

export function chargeId({ idPart }: SampleInput): string {
  return `ch_${idPart}`
}

function declineOf(input: SampleInput): object {
  return {
    advice_code: 'try_again_later',
    charge: chargeId(input),
    code: 'card_declined',
    decline_code: 'insufficient_funds',
    doc_url: 'https://stripe.com/docs/error-codes/card-declined',
    message: 'The card has too little money on it.',
    network_decline_code: '51',
    payment_method: sampleMethod(input, null),
    type: 'card_error',
  }
}

/** Everything that a plain one-off payment leaves at its default. */
const untouchedSettings = {
  allowed_payment_method_types: null,
  amount_capturable: 0,
  amount_details: { tip: {} },
  application: null,
  application_fee_amount: null,
  automatic_payment_methods: { allow_redirects: 'always', enabled: true },
  capture_method: 'automatic_async',
  confirmation_method: 'automatic',
  customer: null,
  customer_account: null,
  description: null,
  excluded_payment_method_types: null,
  managed_payments: null,
  next_action: null,
  on_behalf_of: null,
  payment_method_configuration_details: null,
  payment_method_options: {},
  payment_method_types: ['card'],
  payment_record: null,
  processing: null,
  receipt_email: null,
  review: null,
  setup_future_usage: null,
  shipping: null,
  source: null,
  statement_descriptor: null,
  statement_descriptor_suffix: null,
  transfer_data: null,
  transfer_group: null,
}
