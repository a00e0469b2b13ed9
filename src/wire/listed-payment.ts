import type { z } from 'zod'
import type { Payment } from '../payments/payment.ts'
import { amount } from './fields.ts'
import { paymentSchema, paymentView } from './payment.ts'
import { withJson } from '../kernel/with-json.ts'

/**
 * A payment, and how much of it went back. Both sums are in minor units.
 * @see {@link ListedPaymentJson}, which it is in JSON and as a prop of a React client component.
 */
export interface ListedPayment extends Payment {
  /** What was refunded. */
  readonly refunded: bigint
  /** What `refunds.create` still accepts; refunds under way count as made. */
  readonly refundable: bigint
  toJSON(): ListedPaymentJson
}

export const listedPaymentSchema = paymentSchema.extend({ refunded: amount, refundable: amount })

/** The same in JSON. */
export type ListedPaymentJson = z.output<typeof listedPaymentSchema>

/** What is known of the refunds of a payment. */
export type RefundSums = Pick<ListedPayment, 'refunded' | 'refundable'>

export function listedPaymentView(payment: Payment & RefundSums): ListedPaymentJson {
  return {
    ...paymentView(payment),
    refunded: Number(payment.refunded),
    refundable: Number(payment.refundable),
  }
}

export function listedPaymentOf(payment: Payment, sums: RefundSums): ListedPayment {
  return withJson({ ...payment, ...sums }, listedPaymentView)
}
