import { hours, minutes } from '../../kernel/duration.ts'
import { timeInUuid } from '../../kernel/named-uuid.ts'
import type { Payment } from '../../payments/payment.ts'
import type { JsonObject } from '../body/json.ts'
import type { PollRequest } from '../operations.ts'
import type { StripeApi } from './api.ts'
import { isOf } from './fetched.ts'

/** How much Stripe's clock may differ from ours. */
const around = minutes(5)
/** Nothing leaves us later than some minutes after the handing over, and then arrives in minutes. */
const madeWithin = hours(1)

/**
 * What was made for a payment by a request that was never answered. It is looked for among
 * everything made about then: Stripe's search by metadata lags behind, its lists do not.
 */
export async function findHanded(
  { payment, handedAt }: PollRequest,
  api: StripeApi,
  listPath: 'v1/checkout/sessions' | 'v1/payment_intents',
): Promise<JsonObject | undefined> {
  const from = listPath === 'v1/payment_intents' ? firstAsked(payment, handedAt) : handedAt
  const pages = api.pages(listPath, {
    'created[gte]': seconds(from.getTime() - around).toString(),
    'created[lte]': seconds(handedAt.getTime() + madeWithin + around).toString(),
  })
  return findIn(pages, payment)
}

/**
 * The intent of a charge that may have been made before our database was restored: a payment of a
 * period has the same id then, but Stripe keeps idempotency keys for a day only. Nothing is looked
 * for while the period has just begun.
 */
export async function findCharged(
  payment: Payment,
  {
    api,
    customer,
    now,
  }: { readonly api: StripeApi; readonly customer: string; readonly now: Date },
): Promise<JsonObject | undefined> {
  const from = firstAsked(payment, now)
  if (from.getTime() > now.getTime() - around) return undefined
  const created = { 'created[gte]': seconds(from.getTime() - around).toString() }
  return findIn(api.pages('v1/payment_intents', { customer, ...created }), payment)
}

/** A payment of a period is named by the period's begin: it cannot have been charged before. */
function firstAsked({ id, periodId }: Payment, asked: Date): Date {
  if (periodId === null) return asked
  const begin = timeInUuid(id)
  return begin < asked ? begin : asked
}

async function findIn(
  pages: AsyncIterable<readonly JsonObject[]>,
  payment: Payment,
): Promise<JsonObject | undefined> {
  for await (const page of pages) {
    const found = page.find((object) => isOf(payment, object))
    if (found !== undefined) return found
  }
  return undefined
}

function seconds(time: number): number {
  return Math.floor(time / 1000)
}
