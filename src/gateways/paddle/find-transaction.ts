import { minutes } from '../../kernel/duration.ts'
import { path, textOf, type JsonObject } from '../body/json.ts'
import type { PollRequest } from '../operations.ts'
import { replyInvalid, type PaddleApi } from './api.ts'

/**
 * A payment's transaction: the stored one, else the one that carries its id, among those that were
 * made when it was handed over. Undefined: Paddle has none.
 */
export async function findTransaction(
  api: PaddleApi,
  { payment, handedAt }: PollRequest,
): Promise<JsonObject | undefined> {
  if (payment.checkoutReference === null) return search(api, payment.id, handedAt)
  const transaction = await api.get('transactions', payment.checkoutReference)
  if (transaction !== undefined && isAnothers(transaction, payment.id)) {
    throw replyInvalid(`GET /transactions/${payment.checkoutReference}`)
  }
  return transaction
}

/** A renewal carries the id of the first payment; its own is the transaction's. */
function isAnothers(transaction: JsonObject, paymentId: string): boolean {
  if (textOf(transaction.get('origin'))?.startsWith('subscription_')) return false
  const stated = path(transaction, 'custom_data', 'payment_id') ?? undefined
  return stated !== undefined && stated !== paymentId
}

/** Clocks that differ by more make every callback fail, too. */
const clocksDiffer = minutes(10)
/** A request may be under way for a while. */
const requestLasts = minutes(10)
/** Of this list; other lists allow more. */
const mostPerPage = '30'

/** https://developer.paddle.com/api-reference/transactions/list-transactions */
async function search(
  api: PaddleApi,
  paymentId: string,
  handedAt: Date,
): Promise<JsonObject | undefined> {
  const from = new Date(handedAt.getTime() - clocksDiffer)
  const to = new Date(handedAt.getTime() + requestLasts + clocksDiffer)
  const pages = api.list('transactions', {
    'created_at[GTE]': from.toISOString(),
    'created_at[LTE]': to.toISOString(),
    origin: 'api',
    order_by: 'id[ASC]',
    per_page: mostPerPage,
  })
  for await (const page of pages) {
    const found = page.find((one) => path(one, 'custom_data', 'payment_id') === paymentId)
    if (found !== undefined) return found
  }
  return undefined
}
