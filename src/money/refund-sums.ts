import type { Kysely } from 'kysely'
import type { Page } from '../database/page.ts'
import { listPayments, type PaymentsQuery } from '../database/list-payments.ts'
import { takenBack } from '../database/refunds.ts'
import type { Tables } from '../database/tables.ts'
import type { Registry } from '../gateways/registry.ts'
import type { Payment } from '../payments/payment.ts'
import { listedPaymentOf, type ListedPayment, type RefundSums } from '../wire/listed-payment.ts'

/** Charges with what went back of each, newest first. Error: cursor_invalid. */
export async function listCharges(
  db: Kysely<Tables>,
  query: PaymentsQuery,
  gateways: Registry,
): Promise<Page<ListedPayment>> {
  const { data, nextCursor } = await listPayments(db, query)
  const sumsOf = await refundSums(db, data, gateways)
  return { data: data.map((payment) => listedPaymentOf(payment, sumsOf(payment))), nextCursor }
}

/** What went back of these payments, and what may still be refunded, in one query. */
export async function refundSums(
  db: Kysely<Tables>,
  payments: readonly Payment[],
  gateways: Registry,
): Promise<(payment: Payment) => RefundSums> {
  const takenOf = await takenBack(db, payments)
  return (payment) => {
    const { refunded, reserved } = takenOf(payment)
    return { refunded, refundable: refundableOf(payment, reserved, gateways) }
  }
}

function refundableOf(payment: Payment, reserved: bigint, gateways: Registry): bigint {
  const gateway = gateways.find(payment.gateway)?.gateway
  const isPaidCharge = payment.type === 'charge' && payment.status === 'paid'
  if (gateway?.refund === undefined || !isPaidCharge) return 0n
  const left = payment.amount - reserved
  // Some gateways refund the whole of a payment or nothing.
  const isRefused = left < payment.amount && gateway.partialRefund !== true
  return isRefused || left < 0n ? 0n : left
}
