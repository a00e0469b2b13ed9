import type { JsonObject } from '../body/json.ts'
import { replyInvalid, type PaddleApi } from './api.ts'

/** The most that Paddle puts on a page of adjustments. */
const mostPerPage = '50'

/**
 * All adjustments of a transaction, oldest first.
 * https://developer.paddle.com/api-reference/adjustments/list-adjustments
 */
export async function adjustmentsOf(
  api: PaddleApi,
  transactionId: string,
): Promise<readonly JsonObject[]> {
  const query = { transaction_id: transactionId, order_by: 'id[ASC]', per_page: mostPerPage }
  const adjustments: JsonObject[] = []
  for await (const page of api.list('adjustments', query)) adjustments.push(...page)
  const isStranger = (one: JsonObject) => one.get('transaction_id') !== transactionId
  if (adjustments.some(isStranger)) throw replyInvalid('GET /adjustments')
  return adjustments
}
