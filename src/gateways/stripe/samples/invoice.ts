import { sampleAmount, type SampleInput } from './event.ts'
import { customerId } from './payment-method.ts'

const month = 30 * 86_400

/** The paid invoice of a subscription's next month, as Stripe 2026-10-28 renders it. */
export function sampleRenewal(input: SampleInput): object {
  const { createdAt, currency, idPart } = input
  const amount = sampleAmount(input.amount)
  const id = `in_${idPart}renewal`
  return {
    ...untouchedSettings,
    id,
    object: 'invoice',
    amount_due: amount,
    amount_paid: amount,
    created: createdAt - 3600,
    currency,
    customer: customerId(input),
    effective_at: createdAt - 60,
    hosted_invoice_url: `https://invoice.stripe.com/i/${id}`,
    invoice_pdf: `https://pay.stripe.com/invoice/${id}/pdf`,
    lines: {
      object: 'list',
      data: [],
      has_more: false,
      url: `/v1/invoices/${id}/lines`,
    },
    livemode: input.live,
    number: 'SAMPLE-0002',
    parent: {
      quote_details: null,
      subscription_details: {
        metadata: { payment_id: input.paymentId },
        subscription: `sub_${idPart}`,
      },
      type: 'subscription_details',
    },
    period_end: createdAt,
    period_start: createdAt - month,
    status_transitions: {
      finalized_at: createdAt - 60,
      marked_uncollectible_at: null,
      paid_at: createdAt,
      voided_at: null,
    },
    subtotal: amount,
    subtotal_excluding_tax: amount,
    total: amount,
    total_excluding_tax: amount,
    webhooks_delivered_at: createdAt - 3600,
  }
}

/** Everything that a plain renewal leaves at its default. */
const untouchedSettings = {
  account_country: 'UA',
  account_name: null,
  account_tax_ids: null,
  amount_overpaid: 0,
  amount_remaining: 0,
  amount_shipping: 0,
  application: null,
  attempt_count: 1,
  attempted: true,
  auto_advance: false,
  automatic_tax: {
    disabled_reason: null,
    enabled: false,
    liability: null,
    provider: null,
    status: null,
  },
  automatically_finalizes_at: null,
  billing_reason: 'subscription_cycle',
  collection_method: 'charge_automatically',
  custom_fields: null,
  customer_account: null,
  customer_address: null,
  customer_email: 'olena@shop.example',
  customer_name: 'Olena Kovalenko',
  customer_phone: null,
  customer_shipping: null,
  customer_tax_exempt: 'none',
  customer_tax_ids: [],
  default_payment_method: null,
  default_source: null,
  default_tax_rates: [],
  description: null,
  discounts: [],
  due_date: null,
  ending_balance: 0,
  footer: null,
  from_invoice: null,
  issuer: { type: 'self' },
  last_finalization_error: null,
  latest_revision: null,
  metadata: {},
  next_payment_attempt: null,
  on_behalf_of: null,
  payment_settings: {
    default_mandate: null,
    payment_method_options: null,
    payment_method_types: null,
  },
  post_payment_credit_notes_amount: 0,
  pre_payment_credit_notes_amount: 0,
  receipt_number: null,
  rendering: null,
  shipping_cost: null,
  shipping_details: null,
  starting_balance: 0,
  statement_descriptor: null,
  status: 'paid',
  test_clock: null,
  total_discount_amounts: [],
  total_pretax_credit_amounts: [],
  total_taxes: [],
}
