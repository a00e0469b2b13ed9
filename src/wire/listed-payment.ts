import type { z } from 'zod'
import { moneyText } from '../kernel/money.ts'
import * as field from '../kernel/noun.ts'
import { inWords, viewOf, type Noun, type Values } from '../kernel/noun.ts'
import { withJson } from '../kernel/with-json.ts'
import { paymentFields, paymentFilters, type Payment } from '../payments/payment.ts'
import { standingText, type PaymentStanding } from '../payments/standing.ts'
import type { SubscriptionPeriod } from '../subscriptions/period.ts'
import { schemaOf } from './noun.ts'

export const refundSumFields = {
  /** What was refunded. */
  refunded: field.minorUnits(),
  /** What `refunds.create` still accepts; refunds under way count as made. */
  refundable: field.minorUnits(),
}

/** What is known of the refunds of a payment. */
export type RefundSums = Values<typeof refundSumFields>

/**
 * A payment, and how much of it went back. Both sums are in minor units.
 * @see {@link ListedPaymentJson}, which it is in JSON and as a prop of a React client component.
 */
export interface ListedPayment extends Payment, Values<typeof refundSumFields> {
  toJSON(): ListedPaymentJson
}

export const listedPaymentFields = { ...paymentFields, ...refundSumFields }
export const listedPaymentSchema = schemaOf(listedPaymentFields)

/** The same in JSON. */
export type ListedPaymentJson = z.output<typeof listedPaymentSchema>

export const listedPaymentView: (payment: Omit<ListedPayment, 'toJSON'>) => ListedPaymentJson =
  viewOf(listedPaymentFields)

export function listedPaymentOf(payment: Payment, sums: RefundSums): ListedPayment {
  return withJson({ ...payment, ...sums }, listedPaymentView)
}

/** A payment with what else may be known of it. */
export interface KnownPayment extends Omit<Payment, 'toJSON'>, Partial<RefundSums> {
  readonly standing?: PaymentStanding | undefined
  readonly period?: SubscriptionPeriod | null
}

export const paymentNoun = {
  plural: 'payments',
  facts: {
    ...listedPaymentFields,
    status: inWords<KnownPayment>(({ status, standing }) =>
      standing === undefined ? status : standingText(standing),
    ),
    periodId: inWords<KnownPayment, string | null>(
      ({ period, periodId }) =>
        period ? `${period.number} of subscription ${period.subscriptionId}` : periodId,
      { label: 'period' },
    ),
    /** What went back of it, and what still can; of nothing there is nothing to say. */
    refunds: inWords(refundsText),
  },
  filters: paymentFilters,
  columns: ['id', 'status', 'amount', 'createdAt', 'gateway'],
  notes: ['refunds'],
  view: listedPaymentView,
} as const satisfies Noun<ListedPayment>

function refundsText({ refunded = 0n, refundable = 0n, currency }: KnownPayment): string | null {
  if (refunded === 0n) return null
  const [back, left] = [refunded, refundable].map((amount) => moneyText({ amount, currency }))
  return `refunded ${back}, refundable ${left}`
}
