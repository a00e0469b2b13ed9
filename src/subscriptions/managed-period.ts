import type { Draft } from './draft.ts'
import { fired, moved, withPeriod, withReview, withSubscription } from './draft.ts'
import {
  beginsAsStated,
  isForSale,
  isGiven,
  periodOfTime,
  tolerance,
  type Time,
} from './match-period.ts'
import { newPeriod } from './open-period.ts'
import type { SubscriptionPeriod } from './period.ts'
import { isInTrial } from './standing.ts'

/** What the provider charges for the next time; its time is what the provider says it is. */
export function newManagedPeriod({ state }: Draft, { startsAt, endsAt }: Time): SubscriptionPeriod {
  const number = Math.max(state.lastNumber, 0) + 1
  return newPeriod(state.subscription, { number, startsAt, endsAt })
}

export function periodsOf({ state }: Draft): readonly SubscriptionPeriod[] {
  return state.managed?.periods ?? []
}

/**
 * The period that the provider says it is in, as a row: opened, if there is none, or if what there
 * is was given up, by a pause say. It is not granted by that. One that was never paid makes way for
 * the next.
 */
export function noteCurrent(draft: Draft, stated: Time | null): Draft {
  if (stated === null || stated.endsAt <= stated.startsAt) return draft
  const { open, current } = draft.state
  // The first one begins when its payer has paid, wherever we thought it would.
  if (open !== null && current === null) return aligned(draft, open, stated)
  if (isGiven(periodsOf(draft), stated)) return draft
  const known = periodOfTime(periodsOf(draft), stated)
  if (known !== null && known.state !== 'void') return aligned(passed(draft, known), known, stated)
  const isPast = periodsOf(draft).some(
    (period) => isForSale(period) && period.state !== 'void' && period.startsAt > stated.startsAt,
  )
  if (isPast) return draft
  const closed = passed(draft, stated)
  return withPeriod(closed, newManagedPeriod(closed, stated))
}

/**
 * What is open is not owed any more once its provider is in a period that begins later; should it be
 * paid after all, it is granted.
 */
function passed(draft: Draft, current: Pick<Time, 'startsAt'>): Draft {
  const { open } = draft.state
  const isOwed = open === null || open.startsAt >= current.startsAt
  return isOwed ? draft : withPeriod(draft, { ...open, state: 'void', nextAttemptAt: null })
}

/**
 * A period takes the boundaries that its provider states. A paid one has those of its sale, as far as
 * they are known: its provider may only give more of it.
 */
export function aligned(draft: Draft, period: SubscriptionPeriod, stated: Time): Draft {
  const isSold = period.state === 'paid' && !period.isTimeAssumed
  const isMore = beginsAsStated(period, stated) && stated.endsAt > period.endsAt
  if (isSold && !isMore) return draft
  const startsAt = isSold ? period.startsAt : stated.startsAt
  const { endsAt } = stated
  const isSame =
    period.startsAt.getTime() === startsAt.getTime() && period.endsAt.getTime() === endsAt.getTime()
  if (isSame && !period.isTimeAssumed) return draft
  const isMoved = Math.abs(period.endsAt.getTime() - endsAt.getTime()) > tolerance(period)
  const lastNotice = isMoved ? null : period.lastNotice
  const taken = withPeriod(repeated(draft, period, stated), {
    ...period,
    startsAt,
    endsAt,
    lastNotice,
    isTimeAssumed: false,
  })
  return period.state === 'paid' ? paidAtLeastUntil(taken, endsAt) : taken
}

/** While the time of a period was assumed, nothing could tell that another charge repeats its sale. */
function repeated(draft: Draft, period: SubscriptionPeriod, stated: Time): Draft {
  const { id, isTimeAssumed, paidPaymentId } = period
  const isTwice = periodsOf(draft).some(
    (other) =>
      other.id !== id &&
      other.state === 'paid' &&
      isForSale(other) &&
      beginsAsStated(other, stated),
  )
  if (!isTimeAssumed || paidPaymentId === null || !isTwice) return draft
  const review = { reason: 'period_paid_twice', periodId: id, paymentId: paidPaymentId } as const
  return withReview(draft, review)
}

function paidAtLeastUntil(draft: Draft, endsAt: Date): Draft {
  const { paidUntil } = draft.state.subscription
  return paidUntil !== null && paidUntil >= endsAt
    ? draft
    : withSubscription(draft, { paidUntil: endsAt })
}

/** How a period was paid: by this payment, or because it costs nothing. */
export interface PaidBy {
  readonly paymentId: string | null
  readonly amount: bigint
  readonly currency: string
}

/**
 * Grants a period of a subscription that its provider charges: open, void or new. The payment of
 * what was owed ends a failure; a pause goes on until its provider says otherwise.
 */
export function grantManaged(
  draft: Draft,
  period: SubscriptionPeriod,
  { paymentId, amount, currency, now }: PaidBy & { readonly now: Date },
): Draft {
  const { open, subscription } = draft.state
  const paid: SubscriptionPeriod = {
    ...period,
    state: 'paid',
    amount,
    currency,
    paidPaymentId: paymentId,
    paidAt: now,
    nextAttemptAt: null,
    needs: 'nothing',
  }
  const started = trialOver(announced(draft), true)
  const granted = paidAtLeastUntil(withPeriod(started, paid), paid.endsAt)
  const anchored = withSubscription(granted, {
    anchorAt: subscription.anchorAt ?? paid.startsAt,
    anchorNumber: subscription.anchorAt === null ? paid.number : subscription.anchorNumber,
  })
  const isOwed = open === null || open.id === period.id
  const active = goesOn(subscription.status, isOwed)
    ? moved(withSubscription(anchored, { suspendedAt: null }), 'active', {
        reason: 'paid',
        periodId: paid.id,
      })
    : anchored
  return fireRenewed(active, period, paymentId)
}

function goesOn(status: string, isOwed: boolean): boolean {
  return status === 'incomplete' || status === 'trialing' || (status === 'past_due' && isOwed)
}

function fireRenewed(draft: Draft, period: SubscriptionPeriod, paymentId: string | null): Draft {
  const { id: periodId, firstFailedAt, statusBefore, skippedPeriods } = period
  const previousStatus = firstFailedAt === null ? statusBefore : 'past_due'
  const data = { periodId, paymentId, previousStatus, skippedPeriods }
  return fired(draft, { type: 'SubscriptionRenewed', data })
}

/** The first event of one that its provider manages, once. */
export function announced(draft: Draft): Draft {
  const { state } = draft
  const { managed } = state
  if (managed === undefined || managed.isAnnounced) return draft
  const known = { ...draft, state: { ...state, managed: { ...managed, isAnnounced: true } } }
  return fired(known, { type: 'SubscriptionCreated', data: {} })
}

/**
 * The trial that its checkout was to begin has begun, whether or not that was reported yet: its time
 * is given, and is not the time of what is paid first.
 */
export function trialGiven(draft: Draft): Draft {
  const { open } = draft.state
  return open?.kind === 'trial' ? withPeriod(draft, { ...open, state: 'free' }) : draft
}

/** A trial is over; `converts`: something is charged for from now on. */
export function trialOver(draft: Draft, converts: boolean): Draft {
  if (!isInTrial(draft.state)) return draft
  const { trialEndsAt, createdAt } = draft.state.subscription
  const ended = withSubscription(cutShort(draft, trialEndsAt), {
    anchorAt: trialEndsAt ?? createdAt,
  })
  return fired(ended, { type: 'TrialEnded', data: { converts } })
}

/** What comes after a trial that was cut short must not pass for it, however soon it was. */
function cutShort(draft: Draft, trialEndsAt: Date | null): Draft {
  const trial = periodsOf(draft).find(({ kind }) => kind === 'trial')
  if (trial === undefined || trialEndsAt === null) return draft
  const isShorter = trial.startsAt < trialEndsAt && trialEndsAt < trial.endsAt
  return isShorter ? withPeriod(draft, { ...trial, endsAt: trialEndsAt }) : draft
}

/** A pause is over. */
export function resumed(draft: Draft): Draft {
  if (draft.state.subscription.status !== 'paused') return draft
  return fired(draft, { type: 'SubscriptionResumed', data: {} })
}
