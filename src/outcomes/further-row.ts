import type { NewPayment } from '../database/payments.ts'
import { minutes } from '../kernel/duration.ts'
import type { Payment } from '../payments/payment.ts'

type Own = Pick<NewPayment, 'id' | 'amount'> & Partial<NewPayment>

/** The row of a refund of this charge. */
export function refundRow(charge: Payment, own: Own): NewPayment {
  return furtherRow(charge, { type: 'refund', parentId: charge.id, ...own })
}

/** The row of a further charge that a provider made of its own accord. `isPolled`: it can be asked for it. */
export function renewalRow(first: Payment, isPolled: boolean, own: Own): NewPayment {
  const polled = { isHanded: isPolled, firstPollAfter: isPolled ? minutes(5) : null }
  return furtherRow(first, { ...polled, ...own })
}

/** What a further payment shares with the first one of its payable, and what is its own. */
function furtherRow(first: Payment, own: Own): NewPayment {
  const row: Omit<NewPayment, 'id' | 'amount'> = {
    type: 'charge',
    parentId: null,
    gateway: first.gateway,
    merchantAccount: first.merchantAccount,
    live: first.live,
    status: 'pending',
    currency: first.currency,
    payable: first.payable,
    description: first.description,
    customer: first.customer,
    // The metadata of the first payment says nothing of this one.
    metadata: null,
    returnUrl: null,
    checkoutReference: null,
    providerReference: null,
    checkout: 'none',
    checkoutUrl: null,
    operationError: null,
    saveCard: false,
    paymentMethodId: null,
    periodId: null,
    expiresAt: null,
    isHanded: false,
    firstPollAfter: null,
  }
  return { ...row, ...own }
}
