import { minutes } from '../../kernel/duration.ts'
import type { JsonObject } from '../body/json.ts'
import type { PollRequest } from '../operations.ts'
import type { StripeApi } from './api.ts'
import { isOf } from './fetched.ts'

/**
 * How much Stripe's clock may differ from ours, and how long a request may have been on its way.
 */
const around = minutes(5)

/**
 * What was made for a payment by a request that was never answered. It is looked for among
 * everything made about then: Stripe's search by metadata lags behind, its lists do not.
 */
export async function findHanded(
  { payment, handedAt }: PollRequest,
  api: StripeApi,
  listPath: 'v1/checkout/sessions' | 'v1/payment_intents',
): Promise<JsonObject | undefined> {
  const pages = api.pages(listPath, {
    'created[gte]': seconds(handedAt.getTime() - around).toString(),
    'created[lte]': seconds(handedAt.getTime() + around).toString(),
  })
  for await (const page of pages) {
    const found = page.find((object) => isOf(payment, object))
    if (found !== undefined) return found
  }
  return undefined
}

function seconds(time: number): number {
  return Math.floor(time / 1000)
}
