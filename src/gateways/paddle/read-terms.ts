import { parseMinorUnits, type Money } from '../../kernel/money.ts'
import { readInterval } from '../../subscriptions/interval.ts'
import type { Interval } from '../../subscriptions/subscription.ts'
import { isJsonObject, numberTextOf, path, textOf, type JsonObject } from '../body/json.ts'
import { totalOf } from './payload.ts'

/** How often a subscription is charged; undefined if that cannot be read. */
export function intervalOf(subscription: JsonObject): Interval | undefined {
  const unit = textOf(path(subscription, 'billing_cycle', 'interval'))
  const count = numberTextOf(path(subscription, 'billing_cycle', 'frequency'))
  return readInterval({ unit, count: Number(count) })
}

/**
 * What a period costs its payer. The items say it where the tax is within each price, no discount
 * applies, no country has a price of its own, and all is in the subscription's currency: so it is
 * with our own prices. Anything else only Paddle can work out, and does
 * (`recurring_transaction_details`), but not for a subscription that has ended: that one costs what
 * its prices come to. Undefined if nothing of this can be read.
 */
export function priceOf(subscription: JsonObject): Money | undefined {
  const items = itemsOf(subscription)
  const listed = items && sumOf(items, textOf(subscription.get('currency_code')))
  const isDiscounted = isJsonObject(subscription.get('discount'))
  if (listed !== undefined && !isDiscounted && items?.every(isPlain)) return listed
  const expected = totalOf(path(subscription, 'recurring_transaction_details', 'totals'))
  const { amount, currency } = expected
  return amount !== undefined && currency !== undefined ? { amount, currency } : listed
}

/**
 * What this charge of a period came to: all that is left to say of a subscription that has ended and
 * was paid in another currency than its prices are in.
 */
export function chargedPrice(charge: JsonObject | undefined): Money | undefined {
  const { amount, currency } = totalOf(path(charge ?? null, 'details', 'totals'))
  return amount !== undefined && currency !== undefined ? { amount, currency } : undefined
}

/** The items that are charged again; undefined unless all can be read. */
export function itemsOf(subscription: JsonObject): readonly JsonObject[] | undefined {
  const items = subscription.get('items')
  if (!Array.isArray(items) || !items.every(isJsonObject)) return undefined
  return items.filter((item) => item.get('recurring') !== false)
}

/** Its payer pays the unit price, wherever he is. */
function isPlain(item: JsonObject): boolean {
  const overrides = path(item, 'price', 'unit_price_overrides') ?? []
  const isSameEverywhere = Array.isArray(overrides) && overrides.length === 0
  return isSameEverywhere && path(item, 'price', 'tax_mode') === 'internal'
}

const quantityGrammar = /^[1-9]\d{0,8}$/

function sumOf(items: readonly JsonObject[], currency: string | undefined): Money | undefined {
  let amount = 0n
  for (const item of items) {
    const quantity = numberTextOf(item.get('quantity')) ?? ''
    const unit = parseMinorUnits(textOf(path(item, 'price', 'unit_price', 'amount')))
    const isSame = path(item, 'price', 'unit_price', 'currency_code') === currency
    if (unit === undefined || !isSame || !quantityGrammar.test(quantity)) return undefined
    amount += unit * BigInt(quantity)
  }
  // Read as every other amount is: within what an amount may be, in a currency that exists.
  const total = new Map([
    ['total', amount.toString()],
    ['currency_code', currency ?? ''],
  ])
  const read = totalOf(total)
  if (items.length === 0 || read.amount === undefined || read.currency === undefined)
    return undefined
  return { amount: read.amount, currency: read.currency }
}
