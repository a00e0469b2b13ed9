import { isDeepStrictEqual } from 'node:util'
import type { NewPayment } from '../database/payments.ts'
import type { Payment } from '../payments/payment.ts'
import type { PaymentInput } from './payment-input.ts'

type Content = Payment | NewPayment

/**
 * What must be the same in each field, of the row or of the input, for a call to be a repetition:
 * everything that the caller chose. What was added later (status, the provider's ids, the provider's
 * own expiry) does not count.
 */
const compared: Readonly<
  Record<
    keyof NewPayment | keyof PaymentInput,
    ((content: Content, input: PaymentInput) => unknown) | 'not compared'
  >
> = {
  // The other payment was found by it.
  id: 'not compared',
  type: ({ type }) => type,
  parentId: 'not compared',
  gateway: ({ gateway }) => gateway,
  merchantAccount: ({ merchantAccount }) => merchantAccount,
  live: ({ live }, input) => input.live === undefined || live,
  status: 'not compared',
  amount: ({ amount }) => amount,
  currency: ({ currency }) => currency,
  payable: ({ payable }) => payable,
  description: ({ description }) => description,
  customer: ({ customer }) => customer,
  metadata: ({ metadata }) => metadata,
  returnUrl: ({ returnUrl }) => returnUrl,
  checkoutReference: ({ checkoutReference }, input) =>
    input.checkoutReference === undefined || checkoutReference,
  providerReference: ({ providerReference }, input) =>
    input.providerReference === undefined || providerReference,
  checkout: ({ checkout }) => checkout === 'none',
  checkoutUrl: 'not compared',
  operationError: 'not compared',
  saveCard: ({ saveCard }) => saveCard,
  paymentMethodId: ({ paymentMethodId }) => paymentMethodId,
  periodId: ({ periodId }) => periodId,
  // It is not stored: a payment that exists is not charged again.
  initiatedBy: 'not compared',
  expiresAt: ({ checkout, expiresAt }) => checkout !== 'none' || expiresAt,
  searchedMetadata: 'not compared',
  isHanded: 'not compared',
  firstPollAfter: 'not compared',
}

/** Whether the payment is what this draft would make, so that the call is a repetition. */
export function isSameContent(payment: Payment, draft: NewPayment, input: PaymentInput): boolean {
  return Object.values(compared).every(
    (part) =>
      part === 'not compared' || isDeepStrictEqual(part(payment, input), part(draft, input)),
  )
}
