import type { OperationContext } from '../interpret-context.ts'
import type { RefundReply, RefundRequest } from '../operations.ts'
import { refuseIfOff } from './refuse-if-off.ts'

/** Done at once, and no money moves. */
export async function refundFake(
  { refund }: RefundRequest,
  context: OperationContext,
): Promise<RefundReply> {
  refuseIfOff(context)
  return { status: 'paid', reference: `fake_refund_${refund.id}` }
}
