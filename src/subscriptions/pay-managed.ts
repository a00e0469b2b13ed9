import type { Money } from '../kernel/money.ts'
import type { StatedPeriod } from '../payments/outcome.ts'
import type { Moment, SubscriptionChange, SubscriptionState } from './change.ts'
import { draftOf, withPeriod, withReview, type Draft } from './draft.ts'
import { finish } from './finish.ts'
import { aligned, grantManaged, newManagedPeriod, periodsOf } from './managed-period.ts'
import { unpaidPeriodAt, isForSale, isGiven, periodOfCharge, timeOf } from './match-period.ts'
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
  /** When its provider made it, if that is said; else when it became known. */
  readonly chargedAt: Date
  /** How the subscription stands is known, too: nothing that it could pay for is still to be heard. */
  readonly isStanding: boolean
}

/** What a paid charge bought. */
export interface PaidPeriod {
  readonly change: SubscriptionChange
  readonly periodId: string
}

/**
 * Grants the period that a charge pays for, also one that was given up: the provider was paid after
 * all. Null: it pays for none that is known yet, or has done so already. Money for what is paid, of a
 * subscription that is over, or for nothing at all is shown to a person.
 */
export function payManaged(
  state: SubscriptionState,
  payment: ManagedPayment,
  moment: Moment,
): PaidPeriod | null {
  const draft = draftOf(state)
  const known = [...(payment.period ? [payment.period] : []), ...periodsOf(draft)]
  const own = known.find(({ paidPaymentId }) => paidPaymentId === payment.id)
  if (own !== undefined) return timed(draft, { own, stated: payment.stated }, moment)
  const period = payment.period ?? boughtBy(draft, payment)
  if (period === null) return nothingBought(draft, payment, moment)
  return { change: finish(paid(draft, { payment, period }, moment), moment), periodId: period.id }
}

/** What it has paid for is known; for which time, only now. */
function timed(
  draft: Draft,
  { own, stated }: { readonly own: SubscriptionPeriod; readonly stated: StatedPeriod },
  moment: Moment,
): PaidPeriod | null {
  const time = timeOf(stated)
  if (!own.isTimeAssumed || time === null) return null
  return { change: finish(aligned(draft, own, time), moment), periodId: own.id }
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
  const atTime = atItsTime(draft, { payment, period }, now)
  return grantManaged(draft, atTime, { paymentId, amount, currency, now })
}

/**
 * Its provider knows best when a period begins and ends. Before it has said anything, the first one of
 * a subscription that was made here begins when it is charged.
 */
function atItsTime(
  { state }: Draft,
  { payment, period }: { payment: ManagedPayment; period: SubscriptionPeriod },
  now: Date,
): SubscriptionPeriod {
  const { stated, isFirst, chargedAt } = payment
  const isUnstated = stated.startsAt === undefined && stated.endsAt === undefined
  const hasNominalStart = period.startsAt.getTime() === period.nominalStartsAt.getTime()
  const isOurs = state.managed?.termsBy === 'us' && state.current === null
  if (isUnstated && isFirst && hasNominalStart && isOurs) {
    const startsAt = chargedAt < now ? chargedAt : now
    return {
      ...period,
      startsAt,
      endsAt: endOfFirst(state.subscription, startsAt),
      isTimeAssumed: true,
    }
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
  if (stated.startsAt === undefined && stated.endsAt === undefined) {
    return isFirst ? null : unpaidPeriodAt(periods, chargedAt)
  }
  // Whatever is charged later than at first is not for what was given without money.
  if (isFirst && isGiven(periods, stated)) return null
  const known = periodOfCharge(periods, payment)
  if (known !== null) return known
  const time = timeOf(stated)
  return time === null ? null : newManagedPeriod(draft, time)
}

/**
 * The charge stays with the period that it was made in, or before: somebody has to look at it. Null:
 * what it pays for may still become known, or it is that of a checkout which has begun a trial.
 */
function nothingBought(draft: Draft, payment: ManagedPayment, moment: Moment): PaidPeriod | null {
  const { id: paymentId, amount, isFirst, chargedAt, isStanding } = payment
  const { subscription } = draft.state
  const periods = periodsOf(draft)
  const isOfTrial = isFirst && !periods.every(isForSale)
  const isSettled = isStanding || subscription.status === 'canceled'
  if (!isSettled || isOfTrial || amount === 0n) return null
  const begun = periods.filter(({ startsAt }) => startsAt <= chargedAt)
  const [last] = begun.toSorted((a, b) => b.startsAt.getTime() - a.startsAt.getTime())
  const endsAt = endOfFirst(subscription, chargedAt)
  const period = last ?? {
    ...newManagedPeriod(draft, { startsAt: chargedAt, endsAt }),
    state: 'void',
  }
  const isPaid = period.state === 'paid' && chargedAt < period.endsAt
  const reason = isPaid ? 'period_paid_twice' : 'period_void'
  const kept = last === undefined ? withPeriod(draft, period) : draft
  const shown = withReview(kept, { reason, periodId: period.id, paymentId })
  return { change: finish(shown, moment), periodId: period.id }
}
