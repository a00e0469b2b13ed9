import { ignored, type Outcome } from '../../payments/outcome.ts'
import { detail } from '../detail.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { PollReply, PollRequest, Standing } from '../operations.ts'
import { savedCard } from './read-saved-card.ts'
import { readCharge } from './read-charge.ts'
import { findOrder, type OrderStatus } from './find-order.ts'
import { statedBy } from './interpret.ts'
import { orderReferenceOf } from './order-reference.ts'
import { paymentOutcome, type ChargeReport } from './payment-outcome.ts'
import { isContradicted, reasonCodes } from './reason-code.ts'
import { refundsSoFar, returnedMoney, tellsRefundedTotal } from './read-returned-money.ts'

/** Asks CHECK_STATUS (the wiki's page 852117), whose signed reply reads like a callback. */
export async function pollWayforpay(
  { payment }: PollRequest,
  context: OperationContext,
): Promise<PollReply> {
  const orderReference = orderReferenceOf(payment)
  const { merchantAccount } = payment
  const order = await findOrder({ merchantAccount, orderReference }, context)
  if (order === undefined) {
    const outcomes = [ignored('no_outcome', reasonCodes.orderNotFound)]
    return { outcomes, standing: 'absent', listsRefunds: false }
  }
  const outcomes = outcomesOf(order)
  return {
    outcomes,
    standing: standingOf(order, outcomes),
    listsRefunds: listsRefunds(order, outcomes),
  }
}

/**
 * Everything that has happened to the order: a callback reports one step, and the steps before it
 * may be lost. So money that went back, or is about to, had been paid.
 */
function outcomesOf(order: OrderStatus): readonly Outcome[] {
  const { signed } = order
  const charge = readCharge(signed.orderReference)
  if (charge === undefined) return [ignored('invalid_reference', detail(signed.orderReference))]
  const report: ChargeReport = { signed, charge }
  if (signed.transactionStatus === 'RefundInProcessing') return [paymentOutcome(report, 'paid')]
  const stated = statedBy(report)
  if (stated === 'money_returned') return returnedMoney(report, order)
  if (stated.type !== 'payment' || stated.status !== 'paid') return [stated]
  return [stated, ...savedCard(report, order), ...refundsSoFar(report, order)]
}

const standings: ReadonlyMap<string, Standing> = new Map<string, Standing>([
  ['Created', 'open'],
  // Waits for its payer (1151), or for another card.
  ['Declined', 'open'],
  ['InProcessing', 'undecided'],
  ['inProcessing', 'undecided'],
  ['Pending', 'undecided'],
  ['WaitingAuthComplete', 'undecided'],
  ['Approved', 'paid'],
  ['Refunded', 'paid'],
  ['RefundInProcessing', 'paid'],
  ['Expired', 'unpaid'],
])

/** Any other status, and one that its reason code contradicts, is `unclear`. */
function standingOf({ signed }: OrderStatus, outcomes: readonly Outcome[]): Standing {
  const { transactionStatus } = signed
  if (isContradicted(signed)) return 'unclear'
  // A released hold, unless an amount has gone back: then the money had been taken.
  if (transactionStatus === 'Voided') {
    return outcomes.some(({ type }) => type === 'refund') ? 'paid' : 'unpaid'
  }
  return standings.get(transactionStatus) ?? 'unclear'
}

/**
 * Whether the sum is of all refunds, so that a refund beyond it was not made. It is not while one
 * is on its way, or if no sum is given: a `Voided` order without one may be a released hold, or a
 * payment that was taken back before it was settled.
 */
function listsRefunds(order: OrderStatus, outcomes: readonly Outcome[]): boolean {
  if (outcomes.some(({ type }) => type === 'refund')) return true
  const isPaid = order.signed.transactionStatus === 'Approved' && !isContradicted(order.signed)
  return isPaid && tellsRefundedTotal(order)
}
