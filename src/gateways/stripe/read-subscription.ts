import { ignored, type Outcome, type SubscriptionOutcome } from '../../payments/outcome.ts'
import type { StatedFailure, SubscriptionStatement } from '../../subscriptions/statement.ts'
import type { SubscriptionStatus } from '../../subscriptions/subscription.ts'
import { path, type JsonObject, type JsonValue } from '../body/json.ts'
import type { LookUps } from './api.ts'
import { currencyOf, timeIn } from './fields.ts'
import { accountStatement, isId, readObject, type Snapshot } from './payload.ts'
import { termsOf } from './read-terms.ts'
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
  const [rung] = bell(snapshot, read.id, lookUps)
  return [
    rung === undefined
      ? ignored('no_outcome', `subscription: ${lookUps.noKey}`)
      : { ...rung, ...beganWith(read.object) },
  ]
}

/**
 * That a subscription may have changed, beside what else an event says; nothing where nobody can be
 * asked how it stands.
 */
export function bell(
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
