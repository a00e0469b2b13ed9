import { hours, minutes } from '../../kernel/duration.ts'
import type { Payment } from '../../payments/payment.ts'
import { isJsonObject, path, textOf, type JsonObject } from '../body/json.ts'
import type { PollRequest } from '../operations.ts'
import { replyInvalid, type PaddleApi } from './api.ts'
import { priceNameOf } from './checkout.ts'
import { isCharged } from './payload.ts'

/**
 * A payment's transaction: the stored one, else the one that names it, among those made when it was
 * handed over. Undefined: Paddle has none.
 */
export function findTransaction(
  api: PaddleApi,
  { payment, handedAt }: PollRequest,
): Promise<JsonObject | undefined> {
  return payment.checkoutReference === null
    ? search(api, payment, handedAt)
    : api.get('transactions', payment.checkoutReference)
}

/** The most that Paddle puts on a page of transactions; other lists allow more. */
export const mostPerPage = 30

/**
 * Asks for up to `mostPerPage` transactions by one request. The answer is by id, without unknown ids.
 * https://developer.paddle.com/api-reference/transactions/list-transactions
 */
export async function findTransactions(
  api: PaddleApi,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, JsonObject>> {
  const query = { id: [...ids].join(','), per_page: `${mostPerPage}` }
  const found = new Map<string, JsonObject>()
  for await (const page of api.list('transactions', query)) {
    for (const transaction of page) {
      const id = textOf(transaction.get('id')) ?? ''
      if (!ids.has(id) || found.has(id)) throw replyInvalid('GET /transactions')
      found.set(id, transaction)
    }
    break
  }
  return found
}

/** Clocks that differ by more also make every callback fail. */
const clocksDiffer = minutes(10)
/** Nothing leaves us later than some minutes after the handing over, and then arrives in minutes. */
const madeWithin = hours(1)

/** https://developer.paddle.com/api-reference/transactions/list-transactions */
async function search(
  api: PaddleApi,
  payment: Payment,
  handedAt: Date,
): Promise<JsonObject | undefined> {
  const from = new Date(handedAt.getTime() - clocksDiffer)
  const to = new Date(handedAt.getTime() + madeWithin + clocksDiffer)
  const pages = api.list('transactions', {
    'created_at[GTE]': from.toISOString(),
    'created_at[LTE]': to.toISOString(),
    origin: 'api',
    order_by: 'id[ASC]',
    per_page: `${mostPerPage}`,
  })
  const names = payment.checkout === 'none' ? namesInCustomData : namesInPrice
  let open: JsonObject | undefined
  for await (const page of pages) {
    const found = page.filter((one) => names(one, payment.id))
    const charged = found.find(isCharged)
    if (charged !== undefined) return charged
    open ??= found[0]
  }
  return open
}

/**
 * Only a holder of the API key can make a price: what we opened is known by the price that we made.
 */
function namesInPrice(transaction: JsonObject, paymentId: string): boolean {
  return priceNamesIn(transaction).includes(priceNameOf(paymentId))
}

/**
 * The page and the payer can write custom data, so these count only for transactions that the
 * merchant made: no other payment's transaction is mistaken for this one's.
 */
function namesInCustomData(transaction: JsonObject, paymentId: string): boolean {
  if (path(transaction, 'custom_data', 'payment_id') !== paymentId) return false
  const others = priceNamesIn(transaction).filter((name) => name !== priceNameOf(paymentId))
  return !others.some((name) => ourPrice.test(name))
}

const ourPrice = new RegExp(`^${priceNameOf('[0-9a-f-]{36}')}$`)

function priceNamesIn(transaction: JsonObject): readonly string[] {
  const items = transaction.get('items')
  if (!Array.isArray(items)) throw replyInvalid('GET /transactions')
  return items.flatMap((item) => {
    const name = isJsonObject(item) ? textOf(path(item, 'price', 'description')) : undefined
    return name ?? []
  })
}
