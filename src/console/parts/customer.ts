import { wordsOf } from '../../database/payment-keys.ts'
import type { Payment } from '../../payments/payment.ts'
import type { Html } from '../../http/pages/layout.ts'
import { shown } from './shown.ts'
import { nothing } from './values.ts'

/** Who pays, as the merchant's app has said it: their e-mail, or else their id there. */
export function customerNameOf({ customer }: Pick<Payment, 'customer'>): string | undefined {
  const [name] = [customer?.['email'], customer?.['id']].flatMap(wordsOf)
  return name
}

export function customerOf(payment: Pick<Payment, 'customer'>): Html | string {
  const name = customerNameOf(payment)
  return name === undefined ? nothing : shown(name)
}
