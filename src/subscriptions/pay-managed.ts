import type { Money } from '../kernel/money.ts'
import type { StatedPeriod } from '../payments/outcome.ts'
import type { Moment, SubscriptionChange, SubscriptionState } from './change.ts'
import { draftOf, withPeriod, withReview, type Draft } from './draft.ts'
import { finish } from './finish.ts'
import { grantManaged, newManagedPeriod, periodsOf } from './managed-period.ts'
import { earliestUnpaid, isGiven, periodOfTime } from './match-period.ts'
import { endOfFirst } from './open-period.ts'
import type { SubscriptionPeriod } from './period.ts'

/** A charge of the provider's that is paid. */
export interface ManagedPayment extends Money {
  readonly id: string
  /** The period that it was made for; null: it has to be found. */
  readonly period: SubscriptionPeriod | null
  /** The time that it pays for, as far as it was stated. */
  readonly stated: StatedPeriod
  /** It is that with which the subscription began. */
  readonly isFirst: boolean
  /** When it became known. */
  readonly chargedAt: Date
}

/** What a paid charge bought. */
export interface PaidPeriod {
  readonly change: SubscriptionChange
  readonly periodId: string
}

/**
 * Grants the period that a charge pays for, also one that was given up: the provider was paid after
 * all. Null: it pays for none that is known, or has done so already. Money for what is paid, or of a
 * subscription that is over, is shown to a person.
 */
export function payManaged(
  state: SubscriptionState,
  payment: ManagedPayment,
  moment: Moment,
): PaidPeriod | null {
  const draft = draftOf(state)
  if (periodsOf(draft).some(({ paidPaymentId }) => paidPaymentId === payment.id)) return null
  const period = payment.period ?? boughtBy(draft, payment)
  if (period === null) return null
  return { change: finish(paid(draft, { payment, period }, moment), moment), periodId: period.id }
}

function paid(
  draft: Draft,
  { payment, period }: { payment: ManagedPayment; period: SubscriptionPeriod },
  { now }: Moment,
): Draft {
  const { id: paymentId, amount, currency } = payment
  const review = { periodId: period.id, paymentId } as const
  if (period.state === 'paid') return withReview(draft, { ...review, reason: 'period_paid_twice' })
  if (draft.state.subscription.status === 'canceled') {
    const kept = withPeriod(draft, { ...period, state: 'void' })
    return withReview(kept, { ...review, reason: 'period_void' })
  }
  const timed = atItsTime(draft, { payment, period }, now)
  return grantManaged(draft, timed, { paymentId, amount, currency, now })
}

/** Its provider knows best when a period begins and ends; the first begins when it is paid. */
function atItsTime(
  { state }: Draft,
  { payment, period }: { payment: ManagedPayment; period: SubscriptionPeriod },
  now: Date,
): SubscriptionPeriod {
  const { stated, isFirst } = payment
  const isUnstated = stated.startsAt === undefined && stated.endsAt === undefined
  if (isUnstated && isFirst && period.statusBefore === 'incomplete' && state.current === null) {
    return { ...period, startsAt: now, endsAt: endOfFirst(state.subscription, now) }
  }
  const { startsAt = period.startsAt, endsAt = period.endsAt } = stated
  return endsAt > startsAt ? { ...period, startsAt, endsAt } : period
}

function boughtBy(draft: Draft, payment: ManagedPayment): SubscriptionPeriod | null {
  const { stated, isFirst, chargedAt } = payment
  const { open, current } = draft.state
  const periods = periodsOf(draft)
  // Whatever was asked for at once: in a trial nothing is owed for its time.
  if (isFirst && open !== null && current === null) return open
  const { startsAt, endsAt } = stated
  if (startsAt === undefined && endsAt === undefined) {
    return isFirst ? null : earliestUnpaid(periods, chargedAt)
  }
  // Whatever is charged later than at first is not for what was given without money.
  if (isFirst && isGiven(periods, stated)) return null
  const known = periodOfTime(periods, stated)
  if (known !== null) return known
  if (startsAt === undefined || endsAt === undefined || endsAt <= startsAt) return null
  return newManagedPeriod(draft, { startsAt, endsAt })
}
