import type { Payment } from '../../src/payments/payment.ts'
import type { Statement } from './stating-gateway.ts'

/** That this payment is paid. */
export function paid({
  id,
  amount,
  currency,
}: Pick<Payment, 'id' | 'amount' | 'currency'>): Statement {
  return { type: 'payment', payment: { id }, status: 'paid', amount, currency }
}

/** One refund that the provider names. */
export function refund(
  { id, currency }: Pick<Payment, 'id' | 'currency'>,
  refundReference: string,
  fields: Readonly<Record<string, unknown>> = {},
): Statement {
  return {
    type: 'refund',
    payment: { id },
    status: 'paid',
    amount: 1_000n,
    currency,
    refundReference,
    ...fields,
  }
}

/** How much has been refunded by now. */
export function refundedTotal(
  { id, currency }: Pick<Payment, 'id' | 'currency'>,
  total: bigint,
): Statement {
  return { type: 'refund', payment: { id }, status: 'paid', refundedTotal: total, currency }
}

/** That a payer's bank takes the payment back, or did not. */
export function dispute(
  { id, currency }: Pick<Payment, 'id' | 'currency'>,
  reference: string,
  fields: { readonly status: 'open' | 'won' | 'lost'; readonly amount?: bigint },
): Statement {
  return { type: 'dispute', payment: { id }, reference, currency, ...fields }
}
