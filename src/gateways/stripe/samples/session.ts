import { sampleAmount, type SampleInput } from './event.ts'

const hour = 3600

export type SessionState = {
  readonly status: 'complete' | 'expired'
  readonly paymentStatus: 'paid' | 'unpaid'
  readonly method: 'card' | 'sepa_debit'
}

/** A Checkout Session as Stripe 2026-10-28 renders it, every field included. */
export function sampleSession(input: SampleInput, state: SessionState): object {
  const { currency, createdAt } = input
  const amount = sampleAmount(input.amount)
  const confirmed = state.status === 'complete'
  return {
    ...untouchedSettings,
    id: input.sessionId,
    object: 'checkout.session',
    amount_subtotal: amount,
    amount_total: amount,
    cancel_url: 'https://shop.example/basket',
    client_reference_id: input.paymentId,
    created: createdAt - hour / 2,
    currency,
    customer_details: confirmed ? customerDetails : null,
    expires_at: confirmed ? createdAt + 24 * hour : createdAt,
    livemode: input.live,
    metadata: { payment_id: input.paymentId },
    mode: 'payment',
    payment_intent: confirmed ? input.intentId : null,
    payment_method_types: [state.method],
    payment_status: state.paymentStatus,
    status: state.status,
    success_url: 'https://shop.example/thanks?session={CHECKOUT_SESSION_ID}',
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
  }
}

const customerDetails = {
  address: {
    city: 'Lviv',
    country: 'UA',
    line1: null,
    line2: null,
    postal_code: '79000',
    state: null,
  },
  business_name: null,
  email: 'olena@shop.example',
  individual_name: null,
  name: 'Olena Kovalenko',
  phone: null,
  tax_exempt: 'none',
  tax_ids: [],
}

/** Everything that a plain one-off payment leaves at its default. */
const untouchedSettings = {
  adaptive_pricing: { enabled: false },
  after_expiration: null,
  allow_promotion_codes: null,
  allowed_payment_method_types: null,
  automatic_tax: { enabled: false, liability: null, provider: null, status: null },
  billing_address_collection: null,
  client_secret: null,
  collected_information: null,
  consent: null,
  consent_collection: null,
  currency_conversion: null,
  custom_fields: [],
  custom_text: {
    after_submit: null,
    shipping_address: null,
    submit: null,
    terms_of_service_acceptance: null,
  },
  customer: null,
  customer_account: null,
  customer_creation: 'if_required',
  customer_email: null,
  discounts: null,
  integration_identifier: null,
  invoice: null,
  invoice_creation: {
    enabled: false,
    invoice_data: {
      account_tax_ids: null,
      custom_fields: null,
      description: null,
      footer: null,
      issuer: null,
      metadata: {},
      rendering_options: null,
    },
  },
  locale: null,
  managed_payments: null,
  origin_context: null,
  payment_link: null,
  payment_method_collection: 'if_required',
  payment_method_configuration_details: null,
  payment_method_options: {},
  permissions: null,
  phone_number_collection: { enabled: false },
  recovered_from: null,
  saved_payment_method_options: null,
  setup_intent: null,
  shipping_address_collection: null,
  shipping_cost: null,
  shipping_options: [],
  submit_type: null,
  subscription: null,
  ui_mode: 'hosted_page',
  url: null,
  wallet_options: null,
}
