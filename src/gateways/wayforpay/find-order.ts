import type { JsonObject } from '../body/json.ts'
import { accountFor, askWithAnySecret, type Access } from './api.ts'
import type { SignedFields } from './payload.ts'
import { reasonCodeOf, reasonCodes, unusable } from './reason-code.ts'
import { authenticate } from './signature.ts'

const transactionType = 'CHECK_STATUS'

/** What WayForPay's API says of an order now. */
export interface OrderStatus {
  readonly signed: SignedFields
  /**
   * The whole reply; its unsigned fields come from the API itself, not from the sender of a
   * callback.
   */
  readonly fields: JsonObject
}

/** Which order is meant; null stands for the configured merchant account. */
export interface OrderName {
  readonly merchantAccount: string | null
  readonly orderReference: string
}

/**
 * CHECK_STATUS of an order; changes nothing at WayForPay. Undefined: it has no such order. Errors:
 * `gateway_not_configured`, `provider_unreachable`, `provider_refused`, `provider_reply_invalid`.
 */
export async function findOrder(
  order: OrderName,
  access: Access,
): Promise<OrderStatus | undefined> {
  const reply = await askStatus(order, access)
  return reasonCodeOf(reply) === reasonCodes.orderNotFound ? undefined : readStatus(reply, access)
}

/** The same for an order that must exist, because WayForPay itself has named it. */
export async function checkStatus(order: OrderName, access: Access): Promise<OrderStatus> {
  return readStatus(await askStatus(order, access), access)
}

function askStatus(order: OrderName, access: Access): Promise<JsonObject> {
  accountFor(order.merchantAccount, access)
  const { orderReference } = order
  const request = { transactionType, orderReference, fields: {}, signedTexts: [orderReference] }
  return askWithAnySecret(request, access)
}

function readStatus(reply: JsonObject, { credentials }: Access): OrderStatus {
  const found = authenticate(reply, credentials)
  if (!found.ok) throw unusable(transactionType, found.reason, reply)
  return { signed: found.signed, fields: reply }
}
