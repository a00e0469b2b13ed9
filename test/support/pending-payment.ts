import { bareCharge, unknownAtFirst } from '../../src/database/payments.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { paymentOf } from '../../src/wire/payment.ts'

const at = new Date('2026-11-20T12:00:00Z')

/** A pending charge that no database knows; with these fields. */
export function pendingPayment(fields: Partial<Payment> & Pick<Payment, 'gateway'>): Payment {
  return paymentOf({
    id: '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e01',
    ...bareCharge,
    merchantAccount: null,
    live: null,
    amount: 4999n,
    currency: 'USD',
    payable: { type: 'order', id: '1' },
    description: null,
    customer: null,
    ...unknownAtFirst,
    handedAt: null,
    createdAt: at,
    updatedAt: at,
    ...fields,
  })
}
