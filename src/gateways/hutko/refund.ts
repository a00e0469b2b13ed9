import type { OperationContext } from '../interpret-context.ts'
import type { RefundReply, RefundRequest } from '../operations.ts'
import { invalidReply, openApi } from './api.ts'
import { scalarOf, type Fields } from './payload.ts'
import { signedReply } from './reply.ts'
import { plainText } from './request-text.ts'

/**
 * Reverses a part of an order, or all of it. `reverse_id` keeps the provider from doing it twice;
 * neither callbacks nor the order's state name it. https://docs.fondy.eu/en/docs/page/7
 */
export async function refundOrder(
  { payment, refund, reason }: RefundRequest,
  context: OperationContext,
): Promise<RefundReply> {
  const reply = await openApi(payment, context).send('reverse/order_id', {
    order_id: payment.id,
    amount: String(refund.amount),
    currency: refund.currency,
    comment: plainText(reason ?? ''),
    reverse_id: refund.id,
  })
  const fields = signedReply(reply, payment, context.credentials)
  const id = scalarOf(fields.get('reverse_id')) ?? refund.id
  const status = statuses.get(statusOf(fields))
  if (id !== refund.id || status === undefined) {
    throw invalidReply(reply.call, 'no reverse_status of this refund')
  }
  const code = scalarOf(fields.get('response_code'))
  return status === 'failed' && code !== undefined ? { status, code } : { status }
}

const statuses: ReadonlyMap<unknown, RefundReply['status']> = new Map([
  ['created', 'pending'],
  ['approved', 'paid'],
  ['declined', 'failed'],
])

/** The documentation has both spellings. */
function statusOf(fields: Fields): string | undefined {
  return scalarOf(fields.get('reverse_status')) ?? scalarOf(fields.get('revers_status'))
}
