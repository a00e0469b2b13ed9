import { textOf, type JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { RefundReply, RefundRequest } from '../operations.ts'
import { ask, isError, refusalOf, replyInvalid, shopOf } from './api.ts'
import { scalarText } from './payload.ts'
import { decimalOf } from './signed-data.ts'
import { awaitsDecision } from './statuses.ts'

/**
 * Refunds all or a part: one request, signed with the first key. LiqPay gives refunds no id, and
 * takes no reason. Errors: `gateway_not_configured`, `provider_refused`; `provider_unreachable` and
 * `provider_reply_invalid` if only a poll can find out.
 * https://www.liqpay.ua/documentation/en/api/aquiring/refund/doc
 */
export async function refundLiqpay(
  { payment, refund }: RefundRequest,
  { credentials, signal }: OperationContext,
): Promise<RefundReply> {
  const shop = shopOf(credentials, payment)
  const request = { action: 'refund', order_id: payment.id, amount: decimalOf(refund) }
  const reply = await ask(shop, request, signal)
  checkIsAbout(reply, payment)
  if (isError(reply)) throw refusalOf('refund', reply)
  return { status: statusOf(reply) }
}

/** The reply names the payment by LiqPay's number; if it repeats our id, that must match. */
function checkIsAbout(reply: JsonObject, payment: RefundRequest['payment']): void {
  const named = [
    [reply.get('order_id'), payment.id],
    [scalarText(reply.get('payment_id')), payment.providerReference],
  ] as const
  for (const [stated, known] of named) {
    const isOther = (stated ?? null) !== null && known !== null && stated !== known
    if (isOther) throw replyInvalid('refund', 'another payment')
  }
}

const done: ReadonlySet<string> = new Set(['reversed', 'success'])

function statusOf(reply: JsonObject): RefundReply['status'] {
  const status = textOf(reply.get('status'))?.trimEnd() ?? ''
  // The shop has too little money at LiqPay: the refund is paid from the next payments.
  const waits = reply.get('wait_amount') === true
  if (awaitsDecision.has(status) || (waits && done.has(status))) return 'pending'
  if (done.has(status)) return 'paid'
  throw replyInvalid('refund', `the status ${detail(status)}`)
}
