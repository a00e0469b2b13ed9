import { findPayment } from '../database/payments.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { withUuid } from '../kernel/uuid.ts'
import type { Payment } from '../payments/payment.ts'
import type { MoneyContext } from './context.ts'

/** A charge by its id. Error: `payment_not_found`. */
export async function requireCharge(id: string, context: MoneyContext): Promise<Payment> {
  const { db } = context.processing.database
  const payment = await withUuid(id, (known) => findPayment(db, known))
  if (payment?.type === 'charge') return payment
  throw new QuittanceError('payment_not_found', `there is no payment ${JSON.stringify(id)}`)
}
