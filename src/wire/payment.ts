import { viewOf } from '../kernel/noun.ts'
import { withJson } from '../kernel/with-json.ts'
import { paymentFields, type Payment, type PaymentJson } from '../payments/payment.ts'
import { schemaOf } from './noun.ts'

/** A payment, or a refund of one. */
export const paymentSchema = schemaOf(paymentFields)
export const paymentView: (payment: Omit<Payment, 'toJSON'>) => PaymentJson = viewOf(paymentFields)

/** A payment from its data: a copy has no `toJSON`. */
export function paymentOf(data: Omit<Payment, 'toJSON'>): Payment {
  return withJson(data, paymentView)
}
