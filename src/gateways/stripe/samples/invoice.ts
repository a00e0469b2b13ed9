import { sampleAmount, type SampleInput } from './event.ts'
import { customerId } from './payment-method.ts'

const month = 30 * 86_400

export interface InvoiceState {
  readonly id: string
  readonly number: string
  readonly reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update'
  readonly status: 'draft' | 'open' | 'paid' | 'uncollectible' | 'void'
  readonly amount: bigint
  /** What it pays for; times in Unix seconds. */
  readonly period: { readonly start: number; readonly end: number }
  readonly createdAt: number
  /** Since when it has its status. */
  readonly changedAt: number
  readonly attempts: number
  readonly nextAttemptAt: number | null
}

/** An invoice of the subscription that the payment began, as Stripe 2026-10-28 renders it. */
export function sampleInvoice(input: SampleInput, state: InvoiceState): object {
  const { currency } = input
  const { id, status, createdAt, changedAt, period } = state
  const amount = sampleAmount(state.amount)
  const paid = status === 'paid' ? amount : 0
  const isDraft = status === 'draft'
  const finalizedAt = isDraft ? null : createdAt
  return {
    ...untouchedSettings,
    id,
    object: 'invoice',
    amount_due: amount,
    amount_paid: paid,
    amount_remaining: amount - paid,
    attempt_count: state.attempts,
    attempted: state.attempts > 0,
    billing_reason: state.reason,
    created: createdAt,
    currency,
    customer: customerId(input),
    effective_at: finalizedAt,
    hosted_invoice_url: isDraft ? null : `https://invoice.stripe.com/i/${id}`,
    invoice_pdf: isDraft ? null : `https://pay.stripe.com/invoice/${id}/pdf`,
    lines: {
      object: 'list',
      data: [lineOf(input, state)],
      has_more: false,
      url: `/v1/invoices/${id}/lines`,
    },
    livemode: input.live,
    next_payment_attempt: state.nextAttemptAt,
    number: isDraft ? null : state.number,
    parent: {
      quote_details: null,
      subscription_details: {
        metadata: { payment_id: input.paymentId },
        subscription: subscriptionId(input),
      },
      type: 'subscription_details',
    },
    // When it may have got lines, which is another time than the one that it pays for.
    period_end: period.start,
    period_start: createdAt,
    status,
    status_transitions: {
      finalized_at: finalizedAt,
      marked_uncollectible_at: status === 'uncollectible' ? changedAt : null,
      paid_at: status === 'paid' ? changedAt : null,
      voided_at: status === 'void' ? changedAt : null,
    },
    subtotal: amount,
    subtotal_excluding_tax: amount,
    total: amount,
    total_excluding_tax: amount,
    webhooks_delivered_at: createdAt,
  }
}

export function subscriptionId({ idPart }: SampleInput): string {
  return `sub_${idPart}`
}

function lineOf(input: SampleInput, { id, amount, period }: InvoiceState): object {
  return {
    id: `il_${id.slice('in_'.length)}`,
    object: 'line_item',
    amount: sampleAmount(amount),
    currency: input.currency,
    description: '1 x Membership',
    discount_amounts: [],
    discountable: true,
    discounts: [],
    invoice: id,
    livemode: input.live,
    metadata: { payment_id: input.paymentId },
    parent: {
      invoice_item_details: null,
      subscription_item_details: {
        invoice_item: null,
        proration: false,
        proration_details: { credited_items: null },
        subscription: subscriptionId(input),
        subscription_item: `si_${input.idPart}`,
      },
      type: 'subscription_item_details',
    },
    period,
    pretax_credit_amounts: [],
    pricing: {
      price_details: { price: `price_${input.idPart}`, product: `prod_${input.idPart}` },
      type: 'price_details',
      unit_amount_decimal: amount.toString(),
    },
    quantity: 1,
    subtotal: sampleAmount(amount),
    taxes: [],
  }
}

/** The invoice of a subscription's first month, as soon as it is a document. */
export function sampleFirst(input: SampleInput, status: 'open' | 'paid'): object {
  const { createdAt, idPart, amount } = input
  return sampleInvoice(input, {
    id: `in_${idPart}`,
    number: 'SAMPLE-0001',
    reason: 'subscription_create',
    status,
    amount,
    period: { start: createdAt, end: createdAt + month },
    createdAt,
    changedAt: createdAt,
    attempts: status === 'paid' ? 1 : 0,
    nextAttemptAt: null,
  })
}

/** The invoice of its next month. */
export function sampleRenewal(input: SampleInput, status: 'open' | 'paid'): object {
  const { createdAt, idPart, amount } = input
  return sampleInvoice(input, {
    id: `in_${idPart}renewal`,
    number: 'SAMPLE-0002',
    reason: 'subscription_cycle',
    status,
    amount,
    period: { start: createdAt, end: createdAt + month },
    createdAt: createdAt - 60,
    changedAt: createdAt,
    attempts: 1,
    nextAttemptAt: status === 'open' ? createdAt + 3 * 86_400 : null,
  })
}

/** Everything that a plain invoice leaves at its default. */
const untouchedSettings = {
  account_country: 'UA',
  account_name: null,
  account_tax_ids: null,
  amount_overpaid: 0,
  amount_shipping: 0,
  application: null,
  auto_advance: false,
  automatic_tax: {
    disabled_reason: null,
    enabled: false,
    liability: null,
    provider: null,
    status: null,
  },
  automatically_finalizes_at: null,
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
  test_clock: null,
  total_discount_amounts: [],
  total_pretax_credit_amounts: [],
  total_taxes: [],
}
