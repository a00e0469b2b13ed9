import { findCurrency } from '../../../kernel/currency.ts'
import type { SignInput } from '../../gateway.ts'
import { isPaymentId, isSandboxKey } from '../payload.ts'
import type { DataFields } from '../signed-data.ts'

/** What distinguishes one scenario from another. */
export interface SampleChange {
  readonly action?: string
  /** If left out, the payment succeeded, in the words of its mode. */
  readonly status?: string
  readonly paymentId?: bigint
  readonly more?: DataFields
}

/** A callback as LiqPay words it: its fields, in its order, for a payment by card. */
export function sampleCallback(input: SignInput, change: SampleChange): DataFields {
  const { payment, now } = input
  const paymentId = change.paymentId ?? ownPaymentId(input)
  const amount = { decimal: majorUnits(payment.amount, payment.currency) }
  return {
    payment_id: paymentId,
    action: change.action ?? 'pay',
    status: change.status ?? successOf(input),
    version: 3,
    type: 'buy',
    paytype: 'card',
    public_key: publicKeyOf(input),
    acq_id: 414963,
    order_id: payment.id,
    liqpay_order_id: `SAMPLE${paymentId}`,
    description: 'Замовлення з прикладу',
    sender_card_mask2: '424242*42',
    sender_card_bank: 'Sample',
    sender_card_type: 'visa',
    sender_card_country: 804,
    ip: '192.0.2.7',
    amount,
    currency: payment.currency,
    sender_commission: { decimal: '0.0' },
    agent_commission: { decimal: '0.0' },
    amount_debit: amount,
    amount_credit: amount,
    currency_debit: payment.currency,
    currency_credit: payment.currency,
    mpi_eci: '7',
    is_3ds: false,
    language: 'uk',
    create_date: now.getTime() - 60_000,
    end_date: now.getTime(),
    transaction_id: paymentId,
    ...change.more,
  }
}

/**
 * As LiqPay prints amounts: with at least one decimal, and no zeros after it (`180.0`, `150.75`).
 */
export function majorUnits(amount: bigint, currency: string): string {
  const digits = findCurrency(currency)?.digits ?? 2
  const text = String(amount).padStart(digits + 1, '0')
  const whole = text.slice(0, text.length - digits)
  const fraction = text.slice(text.length - digits).replace(/0+$/, '')
  return `${whole}.${fraction === '' ? '0' : fraction}`
}

/** The number at the end of an id, so that all callbacks about one payment have the same. */
export function paymentIdFrom(id: string): bigint {
  return 1_000_000_000n + BigInt(`0x${id.replaceAll('-', '').slice(-12)}`)
}

function ownPaymentId({ payment }: SignInput): bigint {
  const { id, providerReference } = payment
  return isPaymentId(providerReference) ? BigInt(providerReference) : paymentIdFrom(id)
}

function publicKeyOf({ payment, credentials }: SignInput): string {
  return payment.merchantAccount ?? credentials.settings.public_key ?? ''
}

function successOf(input: SignInput): string {
  const live = input.payment.live ?? !isSandboxKey(publicKeyOf(input))
  return live ? 'success' : 'sandbox'
}
