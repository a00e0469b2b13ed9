import { sampleId, type SampleInput } from './event.ts'
import { periodFrom, samplePrice } from './transaction.ts'

/** How the subscription that began with a payment stands. */
export interface SubscriptionState {
  readonly status: 'active' | 'trialing' | 'past_due' | 'paused' | 'canceled'
  /** It has just begun: only then is its first transaction named. */
  readonly isNew?: true
  /** It ends with its period. */
  readonly isEnding?: true
}

/** A Subscription as version 1 of the API renders it, every field included. */
export function sampleSubscription(input: SampleInput, state: SubscriptionState): object {
  const { paymentId, transactionId, currency, occurredAt } = input
  const { status } = state
  const period = periodFrom(occurredAt)
  const isOver = status === 'paused' || status === 'canceled'
  const next = isOver || state.isEnding ? null : period.ends_at
  return {
    id: sampleSubscriptionId(paymentId),
    items: [itemOf(input, state, next)],
    status,
    discount: null,
    paused_at: status === 'paused' ? occurredAt : null,
    address_id: sampleId('add', paymentId),
    created_at: occurredAt,
    started_at: occurredAt,
    updated_at: occurredAt,
    business_id: null,
    canceled_at: status === 'canceled' ? occurredAt : null,
    custom_data: { payment_id: paymentId },
    customer_id: sampleId('ctm', paymentId),
    import_meta: null,
    billing_cycle: monthly,
    currency_code: currency,
    next_billed_at: next,
    billing_details: null,
    collection_mode: 'automatic',
    first_billed_at: status === 'trialing' ? null : occurredAt,
    scheduled_change: state.isEnding
      ? { action: 'cancel', resume_at: null, effective_at: period.ends_at }
      : null,
    current_billing_period: isOver ? null : period,
    ...(state.isNew && { transaction_id: transactionId }),
  }
}

/** The subscription that begins with a payment. */
export function sampleSubscriptionId(paymentId: string): string {
  return sampleId('sub', paymentId)
}

const monthly = { interval: 'month', frequency: 1 }

function itemOf(input: SampleInput, { status }: SubscriptionState, next: string | null): object {
  const { paymentId, occurredAt } = input
  const isOver = status === 'paused' || status === 'canceled'
  return {
    price: { ...samplePrice(input), billing_cycle: monthly },
    status: isOver ? 'inactive' : status === 'trialing' ? 'trialing' : 'active',
    product: { id: sampleId('pro', paymentId), name: 'Order', tax_category: 'standard' },
    quantity: 1,
    recurring: true,
    created_at: occurredAt,
    updated_at: occurredAt,
    trial_dates: status === 'trialing' ? periodFrom(occurredAt) : null,
    next_billed_at: next,
    previously_billed_at: status === 'trialing' ? null : occurredAt,
  }
}
