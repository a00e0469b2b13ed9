import type { Payment } from '../payments/payment.ts'

/** What the payer reads about a purchase: its description, or else the end of the payment's id. */
export function purchaseText({ id, description }: Pick<Payment, 'id' | 'description'>): string {
  const text = (description ?? '').trim().toWellFormed()
  return text === '' ? `Payment ${id.slice(-8)}` : text
}
