import type { SampleInput } from './sample-event.ts'

export type IntentState = 'succeeded' | 'requires_payment_method' | 'canceled'

/** A PaymentIntent as Stripe 2026-10-28 renders it, every field included. */
export function sampleIntent(input: SampleInput, status: IntentState): object {
  const { amount, createdAt, providerReference } = input
  const succeeded = status === 'succeeded'
  const tried = status !== 'canceled'
  return {
    ...untouchedSettings,
    id: providerReference,
    object: 'payment_intent',
    amount,
    amount_received: succeeded ? amount : 0,
    canceled_at: status === 'canceled' ? createdAt : null,
    cancellation_reason: status === 'canceled' ? 'abandoned' : null,
    client_secret: `${providerReference}_secret_sample`,
    created: createdAt - 60,
    currency: input.currency,
    last_payment_error: status === 'requires_payment_method' ? declineOf(input) : null,
    latest_charge: tried ? chargeId(input) : null,
    livemode: input.live,
    metadata: { payment_id: input.paymentId },
    payment_method: succeeded ? methodId(input) : null,
    status,
  }
}

function chargeId(input: SampleInput): string {
  return input.providerReference.replace('pi_', 'ch_')
}

function methodId(input: SampleInput): string {
  return input.providerReference.replace('pi_', 'pm_')
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
    payment_method: sampleMethod(input),
    type: 'card_error',
  }
}

function sampleMethod(input: SampleInput): object {
  return {
    id: methodId(input),
    object: 'payment_method',
    allow_redisplay: 'unspecified',
    billing_details: {
      address: {
        city: 'Lviv',
        country: 'UA',
        line1: null,
        line2: null,
        postal_code: '79000',
        state: null,
      },
      email: 'olena@shop.example',
      name: 'Olena Kovalenko',
      phone: null,
      tax_id: null,
    },
    card: sampleCard,
    created: input.createdAt - 50,
    customer: null,
    customer_account: null,
    livemode: input.live,
    metadata: {},
    type: 'card',
  }
}

const sampleCard = {
  brand: 'visa',
  checks: { address_line1_check: null, address_postal_code_check: 'pass', cvc_check: 'pass' },
  country: 'UA',
  display_brand: 'visa',
  exp_month: 11,
  exp_year: 2031,
  fingerprint: 'QuittanceSample1',
  funding: 'debit',
  generated_from: null,
  last4: '9995',
  networks: { available: ['visa'], preferred: null },
  regulated_status: 'unregulated',
  three_d_secure_usage: { supported: true },
  wallet: null,
}

/** What a plain one-off payment leaves as it is. */
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
