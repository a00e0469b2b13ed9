import type { Period, SubscriptionSnapshot } from '../events/subscription-snapshot.ts'
import { assertNever } from '../kernel/errors.ts'
import type { SubscriptionSubject } from '../outcomes/applied.ts'
import type { Payment } from '../payments/payment.ts'
import type { PlannedEvent } from '../subscriptions/change.ts'
import type { SubscriptionPeriod } from '../subscriptions/period.ts'
import { eventPeriodOf } from '../wire/subscription-snapshot.ts'
import type { LoadContext, Subjects } from './load-subjects.ts'

export interface SubscriptionEventOf {
  readonly subscriptionId: string
  readonly planned: PlannedEvent
}

/** The ids of what such an event carries. */
export function idsOfSubscriptionEvent({
  subscriptionId: subscription,
  planned: { data },
}: SubscriptionEventOf) {
  return {
    subscription,
    period: 'periodId' in data ? data.periodId : null,
    payment: 'paymentId' in data ? data.paymentId : null,
  }
}

/**
 * What the event carries: what it stored, and its subjects as they stand. Nobody asks whether it
 * still holds: it did when it was written, with what it says.
 */
export function subscriptionSubjectOf(
  event: SubscriptionEventOf,
  subjects: Pick<Subjects, 'subscriptions' | 'periods' | 'payments'>,
  { payPageUrl }: Pick<LoadContext, 'payPageUrl'>,
): SubscriptionSubject {
  const ids = idsOfSubscriptionEvent(event)
  const snapshot = found('subscription', ids.subscription, subjects.subscriptions)
  const period = ids.period === null ? null : found('period', ids.period, subjects.periods)
  const payment = ids.payment === null ? null : found('payment', ids.payment, subjects.payments)
  const url = isPayable(period) ? payPageUrl(ids.subscription) : null
  return carriedBy(event.planned, { snapshot, period, payment, url })
}

/** A page takes money only for what is still owed. */
function isPayable(period: SubscriptionPeriod | null): boolean {
  return period?.state === 'open'
}

interface Loaded {
  readonly snapshot: SubscriptionSnapshot
  readonly period: SubscriptionPeriod | null
  readonly payment: Payment | null
  readonly url: string | null
}

function carriedBy(planned: PlannedEvent, loaded: Loaded): SubscriptionSubject {
  const { snapshot: subscription, payment } = loaded
  const period = () => periodIn(loaded)
  switch (planned.type) {
    case 'SubscriptionRenewed': {
      const { previousStatus, skippedPeriods } = planned.data
      return { subscription, period: period(), payment, previousStatus, skippedPeriods }
    }
    case 'SubscriptionPaymentFailed': {
      const { attempt, nextAttemptAt, needs } = planned.data
      const next = { attempt, nextAttemptAt, needs, payUrl: loaded.url }
      return { subscription, period: period(), payment, ...next }
    }
    case 'SubscriptionAccessSuspended':
      return { subscription, period: period() }
    case 'SubscriptionPeriodEnding': {
      const { renews, notice } = planned.data
      return { subscription, period: period(), renews, notice }
    }
    case 'SubscriptionCreated':
    case 'SubscriptionCancelled':
    case 'SubscriptionPaused':
    case 'SubscriptionResumed':
    case 'TrialWillEnd':
    case 'TrialEnded':
    case 'SubscriptionQuotaReset':
    case 'UsageLimitReached':
      return { subscription, ...planned.data }
    default:
      return assertNever(planned)
  }
}

function periodIn({ period, snapshot }: Loaded): Period {
  if (period === null) throw gone('a period of the subscription', snapshot.id)
  return eventPeriodOf(period)
}

function found<Value>(what: string, id: string, all: ReadonlyMap<string, Value>): Value {
  const value = all.get(id)
  if (value === undefined) throw gone(what, id)
  return value
}

/** None of them is ever deleted. */
function gone(what: string, id: string): Error {
  return new Error(`${what} ${id} of an event is gone`)
}
