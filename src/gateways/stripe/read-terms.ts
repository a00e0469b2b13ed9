import { largestAmount } from '../../kernel/money.ts'
import {
  intervalUnits,
  type Interval,
  type IntervalUnit,
} from '../../subscriptions/subscription.ts'
import { isJsonObject, numberTextOf, path, type JsonObject, type JsonValue } from '../body/json.ts'
import { amountOf, timeIn } from './fields.ts'

/** What the items of a subscription say, in our words. */
export interface ItemTerms {
  /** Minor units of a period. */
  readonly amount: bigint
  /** Nothing of it has another price than 0. */
  readonly isFree: boolean
  readonly every: Interval
  readonly currentPeriod: { readonly startsAt: Date; readonly endsAt: Date } | null
}

interface Item {
  readonly item: JsonObject
  readonly every: Interval
}

/**
 * The price of a period and its length. A subscription that our checkout has begun has one item
 * with a fixed price. The merchant can make it one that our words do not hold; then they say less
 * than it costs, so that it does not pass for the one that was agreed:
 * - items with other intervals than the shortest are left out, as they are charged now and then;
 * - so is what has no fixed price in whole minor units: usage, tiers, packages, fractions;
 * - and what is priced in another currency than the subscription is charged in.
 * Undefined if no item has an interval. https://docs.stripe.com/api/subscription_items
 */
export function termsOf(subscription: JsonObject): ItemTerms | undefined {
  const data = path(subscription, 'items', 'data')
  const all = Array.isArray(data) ? (data as readonly JsonValue[]) : []
  const items = all.filter(isJsonObject).flatMap(withInterval)
  const [shortest] = items.toSorted((one, other) => lengthOf(one.every) - lengthOf(other.every))
  if (shortest === undefined) return undefined
  const { every } = shortest
  const renewing = items.filter((one) => lengthOf(one.every) === lengthOf(every))
  const currency = subscription.get('currency')
  const amount = renewing.reduce((sum, { item }) => sum + (priceOf(item, currency) ?? 0n), 0n)
  return {
    amount: amount > largestAmount ? largestAmount : amount,
    isFree:
      items.length === all.length && items.every(({ item }) => priceOf(item, currency) === 0n),
    every,
    // Before 2025-03-31 the subscription itself named its period.
    currentPeriod: periodIn(shortest.item) ?? periodIn(subscription),
  }
}

function withInterval(item: JsonObject): readonly Item[] {
  const unit = intervalUnits.find((one) => one === path(item, 'price', 'recurring', 'interval'))
  const count = Number(numberTextOf(path(item, 'price', 'recurring', 'interval_count')))
  if (unit === undefined || !Number.isSafeInteger(count) || count < 1) return []
  return [{ item, every: { unit, count: Math.min(count, mostUnits) } }]
}

/** The longest interval in our words, in any unit; Stripe has up to 1,095 days. */
const mostUnits = 366

const daysOf: Readonly<Record<IntervalUnit, number>> = { day: 1, week: 7, month: 30, year: 365 }

function lengthOf({ unit, count }: Interval): number {
  return daysOf[unit] * count
}

/**
 * Undefined if it cannot be said beforehand, or is said in another currency: a price of several shows what
 * it costs in its own. https://docs.stripe.com/payments/currencies/localize-prices/manual-currency-prices
 */
function priceOf(item: JsonObject, currency: JsonValue | undefined): bigint | undefined {
  const price = item.get('price')
  if (!isJsonObject(price)) return undefined
  const isFixed =
    price.get('currency') === currency &&
    price.get('billing_scheme') === 'per_unit' &&
    path(price, 'recurring', 'usage_type') === 'licensed' &&
    (price.get('transform_quantity') ?? null) === null
  const quantity = amountOf(item, 'quantity')
  const each = amountOf(price, 'unit_amount')
  return isFixed && quantity !== undefined && each !== undefined ? quantity * each : undefined
}

function periodIn(object: JsonObject): ItemTerms['currentPeriod'] {
  const startsAt = timeIn(object.get('current_period_start'))
  const endsAt = timeIn(object.get('current_period_end'))
  return startsAt && endsAt && startsAt < endsAt ? { startsAt, endsAt } : null
}
