import { createHash } from 'node:crypto'
import type { SignInput } from '../../gateway.ts'
import { sampleMerchantId } from '../merchant.ts'

/** Parameters as the provider sends them: numbers and texts mixed, empty if it has no value. */
export type SampleOrder = Readonly<Record<string, string | number>>

/**
 * An order that was paid by card. Ids that the payment lacks are derived from its id, so that
 * several callbacks about one payment agree.
 */
export function sampleOrder({ payment, credentials, now }: SignInput): SampleOrder {
  const amount = String(payment.amount)
  const { currency } = payment
  const merchant = payment.merchantAccount ?? credentials.settings.merchant_id
  return {
    rrn: sampleNumber(`rrn of ${payment.id}`, 12),
    masked_card: '444455XXXXXX1111',
    sender_cell_phone: '',
    sender_account: '',
    currency,
    fee: '',
    reversal_amount: '0',
    settlement_amount: '0',
    actual_amount: amount,
    response_description: '',
    sender_email: 'payer@example.com',
    order_status: 'approved',
    response_status: 'success',
    order_time: sampleTime(now),
    actual_currency: currency,
    order_id: payment.id,
    tran_type: 'purchase',
    eci: '5',
    settlement_date: '',
    payment_system: 'card',
    approval_code: sampleNumber(`approval of ${payment.id}`, 6),
    merchant_id: numberOrText(merchant ?? sampleMerchantId('')),
    settlement_currency: '',
    payment_id: numberOrText(payment.providerReference ?? sampleChargeId(payment.id)),
    card_bin: 444455,
    response_code: '',
    card_type: 'VISA',
    amount,
    product_id: '',
    merchant_data: '',
    rectoken: '',
    rectoken_lifetime: '',
    verification_status: '',
    parent_order_id: '',
    additional_info: sampleInfo(payment.live, null),
  }
}

/** The JSON text that comes with orders made by version 1.0.1. */
export function sampleInfo(live: boolean | null, captureStatus: string | null): string {
  return JSON.stringify({
    capture_status: captureStatus,
    capture_amount: null,
    reservation_data: null,
    ...(live !== null && { is_test: !live }),
  })
}

/** An id as a number, unless a number cannot hold it. */
export function numberOrText(id: string): string | number {
  return String(Number(id)) === id ? Number(id) : id
}

/** The provider's id of a charge, from what it is derived from. */
export function sampleChargeId(source: string): string {
  return sampleNumber(`charge of ${source}`, 9)
}

/** A card's token, as long and mixed as the provider's. */
export function sampleToken(source: string): string {
  return createHash('sha256')
    .update(`token of ${source}`)
    .digest('base64url')
    .replaceAll(/[-_]/g, 'x')
}

function sampleNumber(source: string, length: number): string {
  const number = createHash('sha256').update(source).digest().readUIntBE(0, 6)
  return `1${String(number)
    .padStart(length, '0')
    .slice(1 - length)}`
}

/** `DD.MM.YYYY HH:MM:SS` */
function sampleTime(now: Date): string {
  const [date = '', time = ''] = now.toISOString().split('T')
  return `${date.split('-').toReversed().join('.')} ${time.slice(0, 8)}`
}
