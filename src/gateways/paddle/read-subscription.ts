import { parseMinorUnits, type Money } from '../../kernel/money.ts'
import type { PaymentReference } from '../../payments/outcome.ts'
import { readInterval } from '../../subscriptions/interval.ts'
import type { SubscriptionStatement } from '../../subscriptions/statement.ts'
import type { Interval, SubscriptionStatus } from '../../subscriptions/subscription.ts'
import { isJsonObject, numberTextOf, path, textOf, type JsonObject } from '../body/json.ts'
import { isCharged, isId, timeOf, timeSpanOf, totalOf } from './payload.ts'
import { failureOf, hasFailed, newestPeriodCharge } from './read-charges.ts'

/** What Paddle answers about a subscription. */
export interface SubscriptionAnswer {
  readonly subscription: JsonObject
  /** Its transactions, newest first. */
  readonly charges: readonly JsonObject[]
  /** The transaction that it began with, if there was one. */
  readonly first: JsonObject | undefined
}

/**
 * How it stands, in our words; undefined if what matters cannot be read. Its custom data are not
 * read for it: the page and the payer write them.
 * https://developer.paddle.com/api-reference/subscriptions/overview
 */
export function statementOf(answer: SubscriptionAnswer): SubscriptionStatement | undefined {
  const { subscription, charges, first } = answer
  const reference = subscription.get('id')
  const status = statuses.get(textOf(subscription.get('status')) ?? '')
  const every = intervalOf(subscription)
  const price = priceOf(subscription) ?? chargedPrice(newestPeriodCharge(charges))
  if (!isId(reference, 'sub_') || status === undefined) return undefined
  if (every === undefined || price === undefined) return undefined
  const payment = paymentOf(first)
  return {
    reference,
    status,
    ...price,
    ...(price.amount === 0n && { isFree: true }),
    every,
    currentPeriod: timeSpanOf(subscription.get('current_billing_period')) ?? null,
    trialEndsAt: trialEndOf(subscription) ?? null,
    ...plansOf(subscription),
    endedAt: timeOf(subscription.get('canceled_at')) ?? null,
    ...troubleOf(status, answer),
    ...(payment !== undefined && { payment }),
  }
}

const statuses: ReadonlyMap<string, SubscriptionStatus> = new Map<string, SubscriptionStatus>([
  ['active', 'active'],
  ['trialing', 'trialing'],
  ['past_due', 'past_due'],
  ['paused', 'paused'],
  ['canceled', 'canceled'],
])

/** The payment of ours that began it is the one with its first transaction. */
function paymentOf(first: JsonObject | undefined): PaymentReference | undefined {
  const id = first?.get('id')
  return isId(id, 'txn_') ? { checkoutReference: id } : undefined
}

/** Items may begin at different times: a trial is over when the last of them is. */
function trialEndOf(subscription: JsonObject): Date | undefined {
  const trials = (itemsOf(subscription) ?? []).flatMap(
    (item) => timeSpanOf(item.get('trial_dates'))?.endsAt ?? [],
  )
  const last = trials.toSorted((a, b) => a.getTime() - b.getTime()).at(-1)
  const isTrialing = subscription.get('status') === 'trialing'
  const period = timeSpanOf(subscription.get('current_billing_period'))
  return last ?? (isTrialing ? period?.endsAt : undefined)
}

type Plans = Pick<SubscriptionStatement, 'cancelAt' | 'pauseAt' | 'resumeAt'>

const nothingPlanned: Plans = { cancelAt: null, pauseAt: null, resumeAt: null }

/** One change at most is planned; a planned pause may name its end. */
export function plansOf(subscription: JsonObject): Plans {
  const change = subscription.get('scheduled_change')
  if (!isJsonObject(change)) return nothingPlanned
  const at = timeOf(change.get('effective_at')) ?? null
  switch (textOf(change.get('action')) ?? '') {
    case 'cancel':
      return { ...nothingPlanned, cancelAt: at }
    case 'pause':
      return { ...nothingPlanned, pauseAt: at, resumeAt: timeOf(change.get('resume_at')) ?? null }
    case 'resume':
      return { ...nothingPlanned, resumeAt: at }
    default:
      return nothingPlanned
  }
}

type Trouble = Pick<SubscriptionStatement, 'failure' | 'pauseReason'>

/**
 * Paddle ends its retries by pausing or canceling, as the account is set: a pause whose period was
 * tried and never paid is such an end, or came to the same.
 */
function troubleOf(status: SubscriptionStatus, { charges }: SubscriptionAnswer): Trouble {
  const charge = newestPeriodCharge(charges)
  if (status === 'past_due') {
    return { failure: failureOf(hasFailed(charge) ? charge : undefined) }
  }
  const isUnpaid = status === 'paused' && hasFailed(charge)
  return { failure: null, ...(isUnpaid && { pauseReason: 'payment_failed' }) }
}

/** Until when its period is paid; undefined if it is not, or if it is in none. */
export function paidUntil({
  subscription,
  charges,
}: Pick<SubscriptionAnswer, 'subscription' | 'charges'>): Date | undefined {
  const charge = newestPeriodCharge(charges)
  const isPaid = charge !== undefined && isCharged(charge)
  return isPaid ? timeSpanOf(subscription.get('current_billing_period'))?.endsAt : undefined
}

/** How often a subscription is charged; undefined if that cannot be read. */
function intervalOf(subscription: JsonObject): Interval | undefined {
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
function priceOf(subscription: JsonObject): Money | undefined {
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
function chargedPrice(charge: JsonObject | undefined): Money | undefined {
  const { amount, currency } = totalOf(path(charge ?? null, 'details', 'totals'))
  return amount !== undefined && currency !== undefined ? { amount, currency } : undefined
}

/** The items that are charged again; undefined unless all can be read. */
function itemsOf(subscription: JsonObject): readonly JsonObject[] | undefined {
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
