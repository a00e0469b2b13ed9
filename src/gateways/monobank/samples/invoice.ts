import { createHash } from 'node:crypto'
import { findCurrency } from '../../../kernel/currency.ts'
import { minutes } from '../../../kernel/duration.ts'
import type { SignInput } from '../../gateway.ts'

/** What a sample says besides the payment. */
export interface SampleFacts {
  readonly status: string
  /** What was refunded, oldest first, by the refund's own name. */
  readonly refunds?: Readonly<Record<string, bigint>>
  readonly more?: object
}

/** The bank's report on the invoice of a payment, in the bank's order of fields. */
export function sampleInvoice(input: SignInput, facts: SampleFacts): string {
  const { payment, now } = input
  const refunds = Object.entries(facts.refunds ?? {})
  const createdDate = secondsOf(now.getTime() - minutes(2))
  const modifiedDate = secondsOf(now.getTime())
  const currency = findCurrency(payment.currency)
  const ccy = currency === undefined ? 0 : Number(currency.number)
  const left = refunds.reduce((rest, [, refund]) => rest - refund, payment.amount)
  return JSON.stringify({
    invoiceId: payment.checkoutReference ?? sampleInvoiceId(payment.id),
    status: facts.status,
    // Exact: no payment is larger than a double can hold.
    amount: Number(payment.amount),
    ccy,
    ...(facts.status !== 'expired' && { finalAmount: Number(left) }),
    createdDate,
    modifiedDate,
    reference: payment.id,
    destination: 'Оплата замовлення',
    ...(refunds.length > 0 && {
      cancelList: refunds.map(([name, amount], index) => ({
        status: 'success',
        amount: Number(amount),
        ccy,
        createdDate,
        modifiedDate,
        approvalCode: String(662_477 + index),
        rrn: String(60_189_181_769 + index),
        extRef: `refund-${name}-${shortId(input.payment.id)}`,
      })),
    }),
    ...facts.more,
  })
}

/**
 * An invoice that the payment does not have yet is derived from its id: all callbacks name the
 * same.
 */
export function sampleInvoiceId(paymentId: string): string {
  return `p2_${shortId(paymentId)}`
}

/** The card that paid. */
export const samplePaymentInfo = {
  maskedPan: '444403******1902',
  approvalCode: '662476',
  rrn: '060189181768',
  tranId: '13194036',
  terminal: 'MI001088',
  bank: 'Універсал Банк',
  paymentSystem: 'visa',
  paymentMethod: 'pan',
  country: '804',
} as const

/** The card as the bank keeps it, with the token that charges it again. */
export function sampleWallet(input: SignInput): object {
  return {
    cardToken: `${shortId(input.payment.id)}card`,
    walletId: `wallet-${shortId(input.payment.id)}`,
    status: 'created',
  }
}

function shortId(paymentId: string): string {
  return createHash('sha256').update(paymentId).digest('hex').slice(0, 12)
}

function secondsOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')
}
