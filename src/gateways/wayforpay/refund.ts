import { detail } from '../detail.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { RefundReply, RefundRequest } from '../operations.ts'
import { accountFor, askOnce } from './api.ts'
import { orderReferenceOf } from './order-reference.ts'
import { amountTextOf } from './purchase.ts'
import { rawNumber } from './raw-number.ts'
import { declines, reasonCodes, unusable } from './reason-code.ts'
import { authenticateBy } from './signature.ts'

const transactionType = 'REFUND'
const signedNames = [
  'merchantAccount',
  'orderReference',
  'transactionStatus',
  'reasonCode',
] as const

/** No limit is published. */
const longestComment = 255

/**
 * REFUND (the wiki's page 852115), sent once. WayForPay has no id of a refund, so neither the reply
 * nor the callbacks name one.
 */
export async function refundWayforpay(
  { payment, refund, reason }: RefundRequest,
  context: OperationContext,
): Promise<RefundReply> {
  accountFor(payment.merchantAccount, context)
  const orderReference = orderReferenceOf(payment)
  const amount = amountTextOf(refund)
  const { currency } = refund
  const comment = commentOf(reason) || `Refund ${refund.id}`
  const fields = { amount: rawNumber(amount), currency, comment }
  const signedTexts = [orderReference, amount, currency]
  const request = { transactionType, orderReference, fields, signedTexts }
  const reply = await askOnce(request, context)
  const found = authenticateBy(signedNames, reply, context.credentials)
  if (!found.ok) throw unusable(transactionType, found.reason, reply)
  return readRefund(found.signed)
}

function commentOf(reason: string | null): string {
  return (reason ?? '').trim().slice(0, longestComment).toWellFormed()
}

/** `RefundInProcessing` waits, for example for a sufficient balance; a callback follows. */
function readRefund({
  transactionStatus: status,
  reasonCode,
}: Readonly<Record<'transactionStatus' | 'reasonCode', string>>): RefundReply {
  switch (status) {
    case 'Refunded':
    case 'Voided':
      if (reasonCode === reasonCodes.ok) return { status: 'paid' }
      break
    case 'RefundInProcessing':
      return { status: 'pending' }
    case 'Declined':
      if (declines(reasonCode)) return { status: 'failed', code: detail(reasonCode) }
  }
  throw unusable(transactionType, detail(`${status} ${reasonCode}`))
}
