import { QuittanceError } from '../../kernel/errors.ts'
import { parseMajorUnits } from '../../kernel/money.ts'
import { ignored, type Outcome } from '../../payments/outcome.ts'
import { detail } from '../detail.ts'
import type { InterpretContext } from '../gateway.ts'
import { bindingOf } from './account.ts'
import { checkStatus, type OrderStatus } from './api.ts'
import type { Charge } from './charge.ts'
import { scalarOf, type SignedFields } from './payload.ts'

/** A callback about a charge, as far as it is signed. */
export interface ChargeReport {
  readonly signed: SignedFields
  readonly charge: Charge
}

/**
 * `Refunded` and `Voided`: how much went back is not signed, so the API says it. Every failure of
 * the look-up is thrown: the call is tried again, and stays visible as failed at last.
 */
export async function readReturnedMoney(
  { signed, charge }: ChargeReport,
  context: InterpretContext,
): Promise<readonly Outcome[]> {
  const order = await checkStatus(signed, context)
  const { transactionStatus, currency } = order.signed
  // More is on its way back; when it is there, another callback tells, and then the sum is whole.
  if (transactionStatus === 'RefundInProcessing') return [ignored('no_outcome', transactionStatus)]
  const refundedTotal = refundedTotalOf(order)
  const binding = bindingOf(signed.merchantAccount)
  const { payment } = charge
  if (refundedTotal > 0n) {
    return [{ type: 'refund', status: 'paid', payment, refundedTotal, currency, ...binding }]
  }
  if (signed.transactionStatus === 'Voided' && transactionStatus === 'Voided') {
    return [{ type: 'payment', status: 'canceled', ...charge, ...binding }]
  }
  throw unconfirmed(`${transactionStatus} and no refunded sum`)
}

function refundedTotalOf({ signed, fields }: OrderStatus): bigint {
  const stated = fields.get('refundAmount') ?? ''
  if (stated === '') return 0n
  const text = scalarOf(stated)
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
