import { QuittanceError } from '../../kernel/errors.ts'
import { path as valueAt, textOf } from '../body/json.ts'
import { detail } from '../detail.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { RefundReply, RefundRequest } from '../operations.ts'
import { invalidReply, monobankApi } from './api.ts'
import { refundReferenceOf, refundStatusOf } from './read-refunds.ts'

const path = 'api/merchant/invoice/cancel'

/** Refunds a paid invoice, in whole or in part. The amount is always stated. */
export async function refundInvoice(
  { payment, refund }: RefundRequest,
  context: OperationContext,
): Promise<RefundReply> {
  const invoiceId = payment.checkoutReference
  if (invoiceId === null) {
    throw new QuittanceError(
      'provider_refused',
      `monobank can refund no payment whose invoice is not known: ${payment.id}`,
    )
  }
  const amount = Number(refund.amount)
  const reply = await monobankApi(context).post(path, { invoiceId, extRef: refund.id, amount })
  const text = textOf(valueAt(reply, 'status')) ?? ''
  const status = refundStatusOf(text)
  if (status === undefined) throw invalidReply(path, `with the status ${detail(text) || 'none'}`)
  return { status, reference: refundReferenceOf(invoiceId, refund.id) }
}
