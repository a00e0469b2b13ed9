import type { LivePayment, Moment } from './change.ts'
import { fired, moved, withPeriod, withSubscription, type Draft } from './draft.ts'
import { endAsWished, giveUp } from './end-subscription.ts'
import { voidOpen } from './open-period.ts'
import type { PeriodNeeds, SubscriptionPeriod } from './period.ts'
import { dunningEndsAt, nextRetryAt, type RetryFacts } from './retry-times.ts'

export type DeclineKind = 'soft' | 'hard' | 'authentication'

/** Why a period is not paid. */
export interface Failure {
  /** Null: there was no card to charge. */
  readonly paymentId: string | null
  readonly needs: PeriodNeeds
  /** Another card has taken the place of the one that was charged: it is charged at once. */
  readonly hasNewCard: boolean
}

export function needsAfter(decline: DeclineKind): PeriodNeeds {
  return needsOf[decline]
}

const needsOf = { soft: 'nothing', hard: 'new_card', authentication: 'confirmation' } as const

/** The open period was not paid, and it is the customer's to do something, or ours to try again. */
export function failOpen(draft: Draft, failure: Failure, moment: Moment): Draft {
  const { open, subscription } = draft.state
  if (open === null) return draft
  const wished = endAsWished(draft, moment)
  if (wished !== null) return wished
  const counted = {
    ...open,
    declines: failure.paymentId === null ? open.declines : open.declines + 1,
    notMade: 0,
    needs: failure.needs,
  }
  const answered = withSubscription(draft, { actionError: null })
  if (subscription.status === 'paused') return failResumption(answered, counted, failure)
  if (subscription.status !== 'incomplete') return dun(answered, counted, { failure, moment })
  // The payer is there: he pays on a page, or gives another card.
  const nextAttemptAt = failure.hasNewCard ? moment.now : null
  return withPeriod(answered, { ...counted, nextAttemptAt })
}

/** What a pause was to end with is not owed: it stays paused. */
function failResumption(draft: Draft, period: SubscriptionPeriod, failure: Failure): Draft {
  const failed = fireFailure(withPeriod(draft, { ...period, nextAttemptAt: null }), failure)
  // A payer who can still confirm the charge is waited for.
  return failed.state.live === null ? voidOpen(failed) : failed
}

function dun(
  draft: Draft,
  period: SubscriptionPeriod,
  { failure, moment }: { failure: Failure; moment: Moment },
): Draft {
  const { now, policy } = moment
  const firstFailedAt = period.firstFailedAt ?? now
  const { timeZone } = draft.state.subscription
  const facts = { firstFailedAt, retryDays: policy.retryDays, endsAt: period.endsAt, timeZone }
  const nextAttemptAt = failure.hasNewCard ? now : nextAttempt(facts, failure, now)
  const failed = withPeriod(draft, { ...period, firstFailedAt, nextAttemptAt })
  if (nextAttemptAt === null && dunningEndsAt(facts) <= now) return giveUp(failed, moment)
  const pastDue = moved(failed, 'past_due', { reason: reasonOf(failure), periodId: period.id })
  const announced = fireFailure(pastDue, failure)
  return period.firstFailedAt === null ? suspend(announced, now) : announced
}

function nextAttempt(facts: RetryFacts, { needs }: Failure, now: Date): Date | null {
  return needs === 'new_card' ? null : nextRetryAt(facts, now)
}

function reasonOf({ paymentId, needs }: Failure): string {
  if (paymentId === null) return 'no_card'
  return needs === 'confirmation' ? 'needs_confirmation' : 'declined'
}

function fireFailure(draft: Draft, { paymentId, needs }: Failure): Draft {
  const { open } = draft.state
  if (open === null) return draft
  const { id: periodId, declines: attempt, nextAttemptAt, paymentsMade } = open
  const data = { periodId, paymentId, attempt, nextAttemptAt, needs }
  // Without a card: again, if another card was charged meanwhile and is gone.
  const isRepeated = paymentId === null && paymentsMade > 0
  const names = isRepeated ? { payment: `${periodId}/${paymentsMade}` } : {}
  return fired(draft, { type: 'SubscriptionPaymentFailed', data }, names)
}

/** A period that fails for the first time cuts access, if that is wanted. */
function suspend(draft: Draft, now: Date): Draft {
  const { open, subscription } = draft.state
  if (open === null || subscription.graceAccess) return draft
  const event = { type: 'SubscriptionAccessSuspended', data: { periodId: open.id } } as const
  const suspended = withSubscription(draft, { suspendedAt: now })
  return fired(suspended, event)
}

/** An attempt is due and there is no card: nobody is asked for money. */
export function failWithoutCard(draft: Draft, moment: Moment): Draft {
  const { open, subscription } = draft.state
  if (open === null) return draft
  // Its event has fired, and no card came since.
  if (open.needs === 'new_card' || subscription.status === 'incomplete') {
    return withPeriod(draft, { ...open, needs: 'new_card', nextAttemptAt: null })
  }
  return failOpen(draft, { paymentId: null, needs: 'new_card', hasNewCard: false }, moment)
}

/** The bank wants the payer to confirm the charge: as if it had declined, but it may yet be paid. */
export function awaitConfirmation(draft: Draft, live: LivePayment, moment: Moment): Draft {
  const { open, isCardUsable } = draft.state
  // A charge leaves nothing planned: it is another card, given since.
  const hasNewCard = isCardUsable && open !== null && open.nextAttemptAt !== null
  return failOpen(draft, { paymentId: live.id, needs: 'confirmation', hasNewCard }, moment)
}
