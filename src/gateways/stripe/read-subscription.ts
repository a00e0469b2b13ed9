import { largestAmount } from '../../kernel/money.ts'
import { ignored, type Outcome, type SubscriptionOutcome } from '../../payments/outcome.ts'
import type { StatedFailure, SubscriptionStatement } from '../../subscriptions/statement.ts'
import {
  intervalUnits,
  type Interval,
  type IntervalUnit,
  type SubscriptionStatus,
} from '../../subscriptions/subscription.ts'
import { isJsonObject, numberTextOf, path, type JsonObject, type JsonValue } from '../body/json.ts'
import type { LookUps } from './api.ts'
import { amountOf, currencyOf, timeIn } from './fields.ts'
import { accountStatement, isId, readObject, type Snapshot } from './payload.ts'
import { statedReference } from './reference.ts'

/**
 * A subscription has changed. The event's copy of it may be older than what is known already, so
 * nothing of it counts but its id and the payment of ours that it names.
 * https://docs.stripe.com/billing/subscriptions/webhooks
 */
export function subscriptionChanged(snapshot: Snapshot, lookUps: LookUps): readonly Outcome[] {
  const read = readObject(snapshot, 'subscription', 'sub_')
  if ('malformed' in read) {
    return [ignored('malformed_payload', read.malformed, { money: false })]
  }
  const [notice] = subscriptionNotice(snapshot, read.id, lookUps)
  return [
    notice === undefined
      ? ignored('no_outcome', `subscription: ${lookUps.noKey}`)
      : { ...notice, ...beganWith(read.object) },
  ]
}

/**
 * That a subscription may have changed, beside what else an event says; nothing where nobody can be
 * asked how it stands.
 */
export function subscriptionNotice(
  snapshot: Snapshot,
  reference: JsonValue | undefined,
  { api }: Pick<LookUps, 'api'>,
): readonly SubscriptionOutcome[] {
  if (api === undefined || !isId(reference, 'sub_')) return []
  return [{ type: 'subscription', reference, ...accountStatement(snapshot) }]
}

/**
 * The payment of ours that its metadata name: only the holder of a secret key can write them. What
 * is no id of ours was written by another system, and names nothing.
 */
function beganWith(subscription: JsonObject): Pick<SubscriptionOutcome, 'payment'> {
  const reference = statedReference(subscription)
  return reference?.ok ? { payment: { id: reference.paymentId } } : {}
}

interface Asked extends Pick<Snapshot, 'live' | 'account'> {
  readonly failure: StatedFailure | null
}

/**
 * How it stands; undefined if it is worded otherwise than Stripe words it.
 * https://docs.stripe.com/api/subscriptions/object
 */
export function statementOf(
  subscription: JsonObject,
  { failure, live, account }: Asked,
): SubscriptionStatement | undefined {
  const reference = subscription.get('id')
  const standing = standings.get(subscription.get('status'))
  const terms = termsOf(subscription)
  const currency = currencyOf(subscription)
  if (!isId(reference, 'sub_') || !standing || !terms || currency === undefined) return undefined
  const { amount, isFree, every, currentPeriod } = terms
  const { status } = standing
  const isOver = status === 'canceled'
  return {
    reference,
    ...accountStatement({ live, account }),
    ...standing,
    ...pauseOf(subscription, status),
    amount,
    currency,
    ...(isFree && { isFree }),
    every,
    currentPeriod: isOver || status === 'paused' ? null : currentPeriod,
    trialEndsAt: timeIn(subscription.get('trial_end')) ?? null,
    cancelAt: isOver ? null : plannedEnd(subscription, currentPeriod?.endsAt),
    ...plannedPause(subscription, isOver),
    endedAt: isOver ? endOf(subscription) : null,
    failure,
    ...beganWith(subscription),
  }
}

type Standing = Pick<SubscriptionStatement, 'status' | 'hasGivenUp'>

/** https://docs.stripe.com/api/subscriptions/object#subscription_object-status */
const standings: ReadonlyMap<unknown, Standing> = new Map<unknown, Standing>([
  ['incomplete', { status: 'incomplete' }],
  ['incomplete_expired', { status: 'canceled' }],
  ['trialing', { status: 'trialing' }],
  // Also while `pause_collection` is set: invoices are made all the same.
  ['active', { status: 'active' }],
  ['past_due', { status: 'past_due' }],
  ['unpaid', { status: 'past_due', hasGivenUp: true }],
  ['paused', { status: 'paused' }],
  ['canceled', { status: 'canceled' }],
])

const unpaidReasons: ReadonlySet<unknown> = new Set([
  'first_payment_failure',
  'final_payment_failure',
])

function pauseOf(
  subscription: JsonObject,
  status: SubscriptionStatus,
): Pick<SubscriptionStatement, 'pauseReason'> {
  if (status !== 'paused') return {}
  const reason = path(subscription, 'status_details', 'paused', 'subscription', 'type')
  return { pauseReason: unpaidReasons.has(reason) ? 'payment_failed' : 'requested' }
}

function plannedEnd(subscription: JsonObject, periodEnd: Date | undefined): Date | null {
  const at = timeIn(subscription.get('cancel_at'))
  if (at !== undefined) return at
  return subscription.get('cancel_at_period_end') === true ? (periodEnd ?? null) : null
}

/** In its schedule, which is fetched with it. https://docs.stripe.com/api/subscription_schedules */
function plannedPause(
  subscription: JsonObject,
  isOver: boolean,
): Pick<SubscriptionStatement, 'pauseAt' | 'resumeAt'> {
  const plans = path(subscription, 'schedule', 'pause_schedules')
  const [plan = null] = Array.isArray(plans) && !isOver ? (plans as readonly JsonValue[]) : []
  const pauseAt = isScheduled(path(plan, 'pause')) ? timeIn(path(plan, 'pause', 'pause_at')) : null
  const resumeAt = isScheduled(path(plan, 'resume'))
    ? timeIn(path(plan, 'resume', 'resume_at'))
    : null
  return { pauseAt: pauseAt ?? null, resumeAt: resumeAt ?? null }
}

function isScheduled(plan: JsonValue | undefined): boolean {
  return path(plan ?? null, 'status', 'type') === 'scheduled'
}

function endOf(subscription: JsonObject): Date | null {
  return timeIn(subscription.get('ended_at')) ?? timeIn(subscription.get('canceled_at')) ?? null
}

/** What the items of a subscription say, in our words. */
interface ItemTerms {
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
function termsOf(subscription: JsonObject): ItemTerms | undefined {
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
