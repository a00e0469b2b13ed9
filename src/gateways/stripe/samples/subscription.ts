import { sampleAmount, type SampleInput } from './event.ts'
import { subscriptionId } from './invoice.ts'
import { customerId, methodId } from './payment-method.ts'

const month = 30 * 86_400

export interface SubscriptionState {
  readonly status: string
  readonly amount: bigint
  readonly interval: string
  readonly intervalCount: number
  /** The period that it is in; times in Unix seconds. */
  readonly period: { readonly start: number; readonly end: number }
  readonly createdAt: number
  readonly trialEndsAt: number | null
  readonly cancelAt: number | null
  readonly canceledAt: number | null
  readonly endedAt: number | null
  readonly latestInvoice: string | null
  /** Why it is paused, and since when. */
  readonly paused: { readonly reason: string; readonly at: number } | null
}

/** A subscription as Stripe 2026-10-28 renders it, every field included. */
export function sampleSubscription(input: SampleInput, state: SubscriptionState): object {
  const { cancelAt, createdAt, trialEndsAt, paused } = state
  const id = subscriptionId(input)
  return {
    ...untouchedSettings,
    id,
    object: 'subscription',
    billing_cycle_anchor: trialEndsAt ?? createdAt,
    cancel_at: cancelAt,
    cancel_at_period_end: cancelAt !== null && cancelAt === state.period.end,
    canceled_at: state.canceledAt,
    cancellation_details: {
      comment: null,
      feedback: null,
      reason: state.canceledAt === null ? null : 'cancellation_requested',
    },
    created: createdAt,
    currency: input.currency,
    customer: customerId(input),
    default_payment_method: methodId(input),
    ended_at: state.endedAt,
    items: {
      object: 'list',
      data: [itemOf(input, state)],
      has_more: false,
      url: `/v1/subscription_items?subscription=${id}`,
    },
    latest_invoice: state.latestInvoice,
    livemode: input.live,
    metadata: { payment_id: input.paymentId },
    start_date: createdAt,
    status: state.status,
    ...(paused !== null && {
      status_details: {
        paused: {
          subscription: { type: paused.reason },
          transitioned_at: paused.at,
          type: 'subscription',
        },
      },
    }),
    trial_end: trialEndsAt,
    trial_start: trialEndsAt === null ? null : createdAt,
  }
}

function itemOf(input: SampleInput, state: SubscriptionState): object {
  const { amount, createdAt, period } = state
  return {
    id: `si_${input.idPart}`,
    object: 'subscription_item',
    billing_thresholds: null,
    created: createdAt,
    current_period_end: period.end,
    current_period_start: period.start,
    current_trial: null,
    discounts: [],
    metadata: {},
    price: {
      id: `price_${input.idPart}`,
      object: 'price',
      active: false,
      billing_scheme: 'per_unit',
      created: createdAt,
      currency: input.currency,
      custom_unit_amount: null,
      livemode: input.live,
      lookup_key: null,
      metadata: {},
      nickname: null,
      product: `prod_${input.idPart}`,
      recurring: {
        interval: state.interval,
        interval_count: state.intervalCount,
        meter: null,
        trial_period_days: null,
        usage_type: 'licensed',
      },
      tax_behavior: 'unspecified',
      tiers_mode: null,
      transform_quantity: null,
      type: 'recurring',
      unit_amount: sampleAmount(amount),
      unit_amount_decimal: amount.toString(),
    },
    quantity: 1,
    subscription: subscriptionId(input),
    tax_rates: [],
  }
}

/** A monthly one that the payment began: in its first month, or at its end. */
export function sampleMonthly(input: SampleInput, status: 'active' | 'canceled'): object {
  const { amount, createdAt } = input
  const isOver = status === 'canceled'
  const start = isOver ? createdAt - month : createdAt
  return sampleSubscription(input, {
    status,
    amount,
    interval: 'month',
    intervalCount: 1,
    period: { start, end: start + month },
    createdAt: start,
    trialEndsAt: null,
    cancelAt: null,
    canceledAt: isOver ? createdAt : null,
    endedAt: isOver ? createdAt : null,
    latestInvoice: `in_${input.idPart}`,
    paused: null,
  })
}

/** Everything that a subscription of our checkout leaves at its default. */
const untouchedSettings = {
  application: null,
  application_fee_percent: null,
  automatic_tax: { disabled_reason: null, enabled: false, liability: null },
  billing_cycle_anchor_config: null,
  billing_mode: { flexible: { proration_discounts: 'included' }, type: 'flexible' },
  billing_schedules: [],
  billing_thresholds: null,
  collection_method: 'charge_automatically',
  customer_account: null,
  days_until_due: null,
  default_source: null,
  default_tax_rates: [],
  description: null,
  discounts: [],
  invoice_settings: {
    account_tax_ids: null,
    custom_fields: null,
    description: null,
    footer: null,
    issuer: { type: 'self' },
  },
  managed_payments: null,
  next_pending_invoice_item_invoice: null,
  on_behalf_of: null,
  pause_collection: null,
  payment_settings: {
    payment_method_options: null,
    payment_method_types: null,
    save_default_payment_method: 'off',
  },
  pending_invoice_item_interval: null,
  pending_setup_intent: null,
  pending_update: null,
  schedule: null,
  test_clock: null,
  transfer_data: null,
  trial_settings: { end_behavior: { missing_payment_method: 'create_invoice' } },
}
