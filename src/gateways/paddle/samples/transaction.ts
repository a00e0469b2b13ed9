import { sampleId, type SampleInput } from './event.ts'

/** What happens to the payment that a sample transaction is about. */
export interface TransactionState {
  readonly status: 'ready' | 'billed' | 'paid' | 'completed' | 'canceled' | 'past_due'
  /** Of the newest attempt, if there was one. */
  readonly attempt?: 'captured' | 'error' | 'action_required'
  /** The subscription that began with the payment charges again. */
  readonly renewal?: true
  /** Its document has its number already. */
  readonly isNumbered?: true
}

/** A Transaction as version 1 of the API renders it, every field included. */
export function sampleTransaction(input: SampleInput, state: TransactionState): object {
  const { paymentId, transactionId, currency, occurredAt } = input
  const { status } = state
  const billed = status === 'paid' || status === 'completed'
  const ownId = state.renewal ? sampleId('txn', paymentId, 'renewal') : transactionId
  return {
    id: ownId,
    items: [{ price: samplePrice(input), quantity: 1 }],
    origin: state.renewal ? 'subscription_recurring' : 'web',
    status,
    details: detailsOf(input, billed),
    checkout: { url: `https://shop.example/pay?_ptxn=${ownId}` },
    payments: state.attempt === undefined ? [] : [attemptOf(input, state.attempt)],
    billed_at: billed || status === 'billed' ? occurredAt : null,
    address_id: sampleId('add', paymentId),
    created_at: occurredAt,
    invoice_id: state.isNumbered ? sampleId('inv', ownId) : null,
    updated_at: occurredAt,
    business_id: null,
    custom_data: { payment_id: paymentId },
    customer_id: sampleId('ctm', paymentId),
    discount_id: null,
    currency_code: currency,
    billing_period: state.renewal ? periodFrom(occurredAt) : null,
    invoice_number: state.isNumbered ? '4711-10001' : null,
    billing_details: null,
    collection_mode: 'automatic',
    subscription_id: state.renewal ? sampleId('sub', paymentId) : null,
  }
}

/** The month that begins then. */
export function periodFrom(start: string): {
  readonly starts_at: string
  readonly ends_at: string
} {
  const end = new Date(start)
  end.setUTCMonth(end.getUTCMonth() + 1)
  return { starts_at: start, ends_at: end.toISOString() }
}

/** The tax is part of the price, so that the total is what the payment asked for. */
export function samplePrice({ paymentId, amount, currency }: SampleInput): object {
  return {
    id: sampleId('pri', paymentId),
    name: 'Order',
    type: 'custom',
    status: 'active',
    quantity: { minimum: 1, maximum: 1 },
    tax_mode: 'internal',
    product_id: sampleId('pro', paymentId),
    unit_price: { amount: String(amount), currency_code: currency },
    custom_data: null,
    description: 'Order',
    trial_period: null,
    billing_cycle: null,
    unit_price_overrides: [],
  }
}

function detailsOf(input: SampleInput, billed: boolean): object {
  const { paymentId, currency } = input
  const total = String(input.amount)
  const sum = { tax: '0', total, discount: '0', subtotal: total }
  const earned = { fee: billed ? '0' : null, earnings: billed ? total : null }
  const grand = { grand_total: total, grand_total_tax: '0', currency_code: currency }
  const totals = {
    ...sum,
    ...earned,
    ...grand,
    credit: '0',
    credit_to_balance: '0',
    balance: billed ? '0' : total,
  }
  const adjusted = { ...earned, ...grand, tax: '0', total, subtotal: total, retained_fee: '0' }
  return {
    totals,
    line_items: [
      {
        id: sampleId('txnitm', paymentId),
        totals: sum,
        product: { id: sampleId('pro', paymentId), name: 'Order', tax_category: 'standard' },
        price_id: sampleId('pri', paymentId),
        quantity: 1,
        tax_rate: '0',
        unit_totals: sum,
      },
    ],
    payout_totals: billed ? { ...totals, exchange_rate: '1', fee_rate: '0.05' } : null,
    tax_rates_used: [{ totals: sum, tax_rate: '0' }],
    adjusted_totals: adjusted,
    adjusted_payout_totals: billed ? { ...adjusted, exchange_rate: '1' } : null,
  }
}

function attemptOf(
  { paymentId, amount, occurredAt }: SampleInput,
  status: NonNullable<TransactionState['attempt']>,
): object {
  return {
    amount: String(amount),
    status,
    created_at: occurredAt,
    error_code: status === 'error' ? 'declined' : null,
    captured_at: status === 'captured' ? occurredAt : null,
    method_details: {
      card: {
        type: 'visa',
        last4: '4242',
        expiry_year: 2031,
        expiry_month: 11,
        cardholder_name: 'Olena Kovalenko',
      },
      paypal: null,
      south_korea_local_card: null,
      type: 'card',
      underlying_details: null,
    },
    payment_method_id: sampleId('paymtd', paymentId),
    payment_attempt_id: paymentId,
    stored_payment_method_id: paymentId,
  }
}
