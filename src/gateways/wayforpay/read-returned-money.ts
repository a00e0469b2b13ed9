import { QuittanceError } from '../../kernel/errors.ts'
import { parseMajorUnits } from '../../kernel/money.ts'
import { ignored, type Outcome, type RefundOutcome } from '../../payments/outcome.ts'
import { detail } from '../detail.ts'
import type { InterpretContext } from '../interpret-context.ts'
import { bindingOf } from './account.ts'
import { checkStatus, type OrderStatus } from './find-order.ts'
import { scalarOf } from './payload.ts'
import { paymentOutcome, type ChargeReport } from './payment-outcome.ts'

/**
 * `Refunded` and `Voided`: the refunded amount is not signed, so the API must state it. Every
 * failure of the look-up is thrown: the call is retried, and in the end stays visible as failed.
 */
export async function readReturnedMoney(
  report: ChargeReport,
  context: InterpretContext,
): Promise<readonly Outcome[]> {
  return returnedMoney(report, await checkStatus(report.signed, context))
}

/** What `Refunded` or `Voided` means, given what the API says of the order. */
export function returnedMoney(report: ChargeReport, order: OrderStatus): readonly Outcome[] {
  const { transactionStatus } = order.signed
  // More is on its way back. Once it has arrived, another callback follows, and the sum is
  // complete.
  if (transactionStatus === 'RefundInProcessing') return [ignored('no_outcome', transactionStatus)]
  const { signed, charge } = report
  const stated: ChargeReport = { signed: order.signed, charge }
  const refunds = refundsSoFar(report, order)
  // Refunded money had been taken, but the callback that reported it may be lost or late.
  if (refunds.length > 0) return [paymentOutcome(stated, 'paid'), ...refunds]
  if (signed.transactionStatus === 'Voided' && transactionStatus === 'Voided') {
    return [{ ...paymentOutcome(stated, 'canceled'), ifPaid: 'refunded' }]
  }
  throw unconfirmed(`${transactionStatus} and no refunded sum`)
}

/** How much of the charge has gone back by now; nothing if nothing has. */
export function refundsSoFar(
  { signed, charge: { payment } }: ChargeReport,
  order: OrderStatus,
): readonly RefundOutcome[] {
  const refundedTotal = refundedTotalOf(order)
  if (refundedTotal === 0n) return []
  const { currency } = order.signed
  const binding = bindingOf(signed.merchantAccount)
  return [{ type: 'refund', status: 'paid', payment, refundedTotal, currency, ...binding }]
}

/** Whether the API states how much has gone back: `0` does, an absent field and `null` do not. */
export function tellsRefundedTotal({ fields }: OrderStatus): boolean {
  return (fields.get('refundAmount') ?? '') !== ''
}

function refundedTotalOf({ signed, fields }: OrderStatus): bigint {
  if (!tellsRefundedTotal({ signed, fields })) return 0n
  const text = scalarOf(fields.get('refundAmount'))
  const total = text === undefined ? undefined : parseMajorUnits(text, signed.currency)
  if (total === undefined) throw unconfirmed('a refundAmount that is no sum')
  return total
}

function unconfirmed(found: string): QuittanceError {
  return new QuittanceError(
    'provider_reply_invalid',
    `WayForPay reported returned money, but its CHECK_STATUS says ${detail(found)}`,
  )
}
