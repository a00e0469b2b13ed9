import { ignored, type Outcome } from '../../payments/outcome.ts'
import type { Payment } from '../../payments/payment.ts'
import { textOf, type JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { PollReply, PollRequest, Standing } from '../operations.ts'
import { ask, refused, replyInvalid, shopOf, tellsPayment, type Shop } from './api.ts'
import { interpretCallback } from './interpret.ts'
import { amountOf, errorCodeOf, paymentIdOf, readFields, type Callback } from './payload.ts'
import { awaitsDecision, awaitsPayer, mayBeTriedAgain, wasTaken } from './statuses.ts'

/**
 * Fetches the status of the order that has our payment's id. Errors: `gateway_not_configured`,
 * `provider_unreachable`, `provider_refused`, `provider_reply_invalid`.
 * https://www.liqpay.ua/documentation/en/api/information/status/doc
 */
export async function pollLiqpay(
  { payment }: PollRequest,
  { credentials, signal, now }: OperationContext,
): Promise<PollReply> {
  const shop = shopOf(credentials, payment)
  const reply = await askStatus(shop, payment, signal)
  if (tellsPayment(reply)) {
    const callback = readOwn('status', reply, { payment, shop })
    const outcomes = interpretCallback(callback)
    const isWhole = listsRefunds(callback)
    const standing = wasTaken.has(callback.status)
      ? standingAfterCharge(outcomes)
      : standingBeforeCharge(callback.status, payment, now)
    return { outcomes, standing, listsRefunds: isWhole }
  }
  const code = errorCodeOf(reply)
  if (code === undefined) throw replyInvalid('status', 'an error without a code')
  if (code !== 'payment_not_found') throw refused('status', code)
  return {
    outcomes: [ignored('no_outcome', code)],
    // LiqPay first sees an order when its payer pays: no checkout is requested beforehand.
    standing: isOpenForm(payment, now) ? 'open' : 'absent',
    listsRefunds: false,
  }
}

const badSignature: ReadonlySet<string | undefined> = new Set([
  'invalid_signature',
  'err_signature',
])

/** While the key is being replaced, only LiqPay knows which one is valid. */
async function askStatus(shop: Shop, { id }: Payment, signal: AbortSignal): Promise<JsonObject> {
  const request = { action: 'status', order_id: id }
  let reply = await ask(shop, request, signal)
  for (const privateKey of shop.otherKeys) {
    if (tellsPayment(reply) || !badSignature.has(errorCodeOf(reply))) break
    reply = await ask({ ...shop, privateKey }, request, signal)
  }
  return reply
}

/**
 * The reply in the form of a callback, if it is about this payment: not about another order or
 * shop, and not about a renewal of a subscription that the order began.
 */
export function readOwn(
  action: string,
  reply: JsonObject,
  { payment, shop }: { readonly payment: Payment; readonly shop: Shop },
): Callback {
  const read = readFields(reply)
  if (!read.ok) throw replyInvalid(action, `no ${read.outcome.detail ?? 'fields'} that can be read`)
  const { callback } = read
  if (callback.publicKey !== shop.publicKey) throw replyInvalid(action, 'another shop')
  if (reply.get('order_id') !== payment.id) {
    throw replyInvalid(action, `another order (${detail(textOf(reply.get('order_id')) ?? 'none')})`)
  }
  if (paymentIdOf(callback) === undefined) throw replyInvalid(action, 'no payment_id')
  if (callback.action === 'regular') throw replyInvalid(action, 'a renewal of the order')
  return callback
}

/** A blocked amount may have been released: it was never paid. What cannot be read is `unclear`. */
function standingAfterCharge(outcomes: readonly Outcome[]): Standing {
  const payment = outcomes.find((outcome) => outcome.type === 'payment')
  if (payment === undefined) return 'unclear'
  return payment.status === 'paid' ? 'paid' : 'unpaid'
}

function standingBeforeCharge(status: string, payment: Payment, now: Date): Standing {
  if (awaitsPayer.has(status)) return 'open'
  if (mayBeTriedAgain.has(status)) return isOpenForm(payment, now) ? 'open' : 'unpaid'
  return awaitsDecision.has(status) || status === 'subscribed' ? 'undecided' : 'unclear'
}

/** Whether the signed form can still be posted: LiqPay refuses it after its `expired_date`. */
function isOpenForm({ paymentMethodId, expiresAt }: Payment, now: Date): boolean {
  return paymentMethodId === null && (expiresAt === null || now < expiresAt)
}

/**
 * LiqPay does not say whether `refund_amount` is the sum of all refunds or the last one: both are
 * the same only if nothing or everything went back. And a reserved refund is not in it yet.
 */
function listsRefunds(callback: Callback): boolean {
  const { status, fields } = callback
  if (!wasTaken.has(status) || fields.get('wait_reserve_status') === true) return false
  if ((fields.get('refund_amount') ?? null) === null) return true
  const refunded = amountOf(callback, 'refund_amount')
  return refunded === 0n || (refunded !== undefined && refunded === amountOf(callback, 'amount'))
}
