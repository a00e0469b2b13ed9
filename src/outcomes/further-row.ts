import { bareCharge, type NewPayment } from '../database/payments.ts'
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

/**
 * What a further payment shares with the first one of its payable, and what is its own. The metadata
 * of the first payment says nothing of this one.
 */
function furtherRow(first: Payment, own: Own): NewPayment {
  const { gateway, merchantAccount, live, currency, payable, description, customer } = first
  const shared = { gateway, merchantAccount, live, currency, payable, description, customer }
  return { ...bareCharge, ...shared, isHanded: false, firstPollAfter: null, ...own }
}
