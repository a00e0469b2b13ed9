import type { JsonObject } from '../body/json.ts'
import { replyInvalid, type PaddleApi } from './api.ts'
import { isFirstCharge } from './read-charges.ts'

/** The limit of this list. */
const mostPerPage = '30'

/**
 * The newest transactions of a subscription, the newest one first. More would be of no use: a
 * subscription is looked at every week, and backfill lists what was missed for longer.
 * https://developer.paddle.com/api-reference/transactions/list-transactions
 */
export function newestCharges(api: PaddleApi, id: string): Promise<readonly JsonObject[]> {
  return firstPage(api, id, { order_by: 'id[DESC]', per_page: mostPerPage })
}

/** The transaction that the subscription began with. One that was imported has none. */
export async function firstCharge(
  api: PaddleApi,
  id: string,
  charges: readonly JsonObject[],
): Promise<JsonObject | undefined> {
  const known = charges.findLast(isFirstCharge)
  if (known !== undefined) return known
  const query = { origin: 'web,api', order_by: 'id[ASC]', per_page: '1' }
  return (await firstPage(api, id, query)).find(isFirstCharge)
}

async function firstPage(
  api: PaddleApi,
  id: string,
  query: Readonly<Record<string, string>>,
): Promise<readonly JsonObject[]> {
  for await (const page of api.list('transactions', { subscription_id: id, ...query })) {
    const isStranger = (one: JsonObject) => one.get('subscription_id') !== id
    if (page.some(isStranger)) throw replyInvalid('GET /transactions')
    return page
  }
  return []
}
