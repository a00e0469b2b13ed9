import { assertNever } from '../kernel/errors.ts'
import type { Moment } from './change.ts'
import { fired, moved, withPeriod, withSubscription, type Draft } from './draft.ts'
import { end, pause } from './end-subscription.ts'
import { grantManaged, noteCurrent, periodsOf, resumed } from './managed-period.ts'
import { isGiven, periodOfTime } from './match-period.ts'
import { endOfFirst, newPeriod } from './open-period.ts'
import type { SubscriptionPeriod } from './period.ts'
import type { StatedFailure, SubscriptionStatement } from './statement.ts'

/**
 * Why a status does not hold:
 * - `ended`: what is over stays so;
 * - `period_paid`: it is past due for a period that is paid here.
 */
export type Disbelief = 'ended' | 'period_paid'

/** A draft with the stated status taken over, and why it was not. */
export interface TakenStatus {
  readonly draft: Draft
  readonly disbelief: Disbelief | null
}

/** Takes over the status that was stated of a subscription that is not over. */
export function takeStatus(
  draft: Draft,
  statement: SubscriptionStatement,
  moment: Moment,
): TakenStatus {
  const current = statement.currentPeriod
  switch (statement.status) {
    case 'incomplete':
      return held(noteCurrent(draft, current))
    case 'trialing':
      return held(takeTrial(draft, statement, moment))
    case 'active':
      return held(takeActive(noteCurrent(draft, current), statement, moment))
    case 'past_due':
      return takePastDue(draft, statement, moment)
    case 'paused':
      return held(takePause(draft, statement))
    case 'canceled':
      return held(end(draft, 'provider', { ...moment, now: endedAt(statement, moment) }))
    default:
      return assertNever(statement.status)
  }
}

const held = (draft: Draft): TakenStatus => ({ draft, disbelief: null })

function endedAt({ endedAt: stated }: SubscriptionStatement, { now }: Moment): Date {
  return stated !== null && stated < now ? stated : now
}

/** A trial is given without money: it is a period of its own, whose end is announced. */
function takeTrial(draft: Draft, statement: SubscriptionStatement, { now }: Moment): Draft {
  const { trialEndsAt, currentPeriod } = statement
  const { status, anchorAt } = draft.state.subscription
  const awake = resumed(draft)
  const trialing =
    status === 'trialing'
      ? awake
      : moved(withSubscription(awake, { suspendedAt: null }), 'trialing', {
          reason: 'trial',
          periodId: null,
        })
  // A second trial interrupts what was paid; nothing is announced of it.
  if (anchorAt !== null || trialEndsAt === null) return trialing
  const startsAt = currentPeriod?.startsAt ?? now
  return startsAt < trialEndsAt ? withTrial(trialing, { startsAt, endsAt: trialEndsAt }) : trialing
}

function withTrial(draft: Draft, time: { readonly startsAt: Date; readonly endsAt: Date }): Draft {
  const { subscription, lastNumber, open } = draft.state
  const known = periodsOf(draft).find(({ kind }) => kind === 'trial')
  const given = known ?? {
    ...newPeriod(subscription, { ...time, number: lastNumber === -1 ? 0 : lastNumber + 1 }),
    kind: 'trial',
    state: 'free',
    amount: 0n,
  }
  const isSame = known?.endsAt.getTime() === time.endsAt.getTime()
  // It has begun when it was first said to have.
  const startsAt = given.startsAt < time.startsAt ? given.startsAt : time.startsAt
  const ofTrial = isSame
    ? draft
    : withPeriod(draft, { ...given, startsAt, endsAt: time.endsAt, lastNotice: null })
  if (open === null || open.startsAt.getTime() === time.endsAt.getTime()) return ofTrial
  // What was to be paid first is what follows.
  const endsAt = endOfFirst(subscription, time.endsAt)
  return withPeriod(ofTrial, { ...open, startsAt: time.endsAt, endsAt })
}

/** That it goes on pays for nothing, unless it costs nothing. */
function takeActive(draft: Draft, statement: SubscriptionStatement, { now }: Moment): Draft {
  const { amount, currency, failure, isFree } = statement
  const active = goesOn(draft, failure)
  const { open } = active.state
  if (open === null || isFree !== true || isOurs(active)) return active
  return grantManaged(active, open, { paymentId: null, amount, currency, now })
}

/** What was sold here for money is not granted because it is stated to be free. */
function isOurs({ state }: Draft): boolean {
  return state.managed?.termsBy === 'us' && state.subscription.amount !== 0n
}

function goesOn(draft: Draft, failure: StatedFailure | null): Draft {
  const { status } = draft.state.subscription
  if (status === 'paused') return unpaused(draft)
  const isOver =
    (status === 'past_due' && failure === null) ||
    // A trial that interrupts what was paid before.
    (status === 'trialing' && wasPaid(draft))
  return isOver ? going(draft, 'provider') : draft
}

function unpaused(draft: Draft): Draft {
  return going(resumed(draft), 'resumed')
}

/** What was never paid still waits for its first payment: that it goes on pays for nothing. */
function going(draft: Draft, reason: 'provider' | 'resumed'): Draft {
  const unpaid = hadTrial(draft) ? 'trialing' : 'incomplete'
  const free = withSubscription(draft, { suspendedAt: null, resumeAt: null })
  return moved(free, wasPaid(draft) ? 'active' : unpaid, { reason, periodId: null })
}

function wasPaid(draft: Draft): boolean {
  return periodsOf(draft).some(({ state }) => state === 'paid')
}

function hadTrial(draft: Draft): boolean {
  return periodsOf(draft).some(({ kind, state }) => kind === 'trial' && state === 'free')
}

/** Not for what was never paid, which gives no access, nor for what is paid by now. */
function takePastDue(draft: Draft, statement: SubscriptionStatement, moment: Moment): TakenStatus {
  const { status, graceAccess } = draft.state.subscription
  if (!wasPaid(draft) && !hadTrial(draft)) {
    const waiting = noteCurrent(draft, statement.currentPeriod)
    return held(status === 'paused' ? unpaused(waiting) : waiting)
  }
  // It rests for what it owes: its provider counting on is no new debt.
  const isResting = statement.hasGivenUp === true && isCutOff(draft)
  const noted = isResting ? draft : noteCurrent(draft, statement.currentPeriod)
  if (isPaidFor(noted, statement)) return { draft: noted, disbelief: 'period_paid' }
  if (isResting) return held(noted)
  if (statement.hasGivenUp === true && graceAccess) return held(pause(noted, 'payment_failed'))
  const { open } = noted.state
  const pastDue = moved(resumed(noted), 'past_due', {
    reason: 'declined',
    periodId: open?.id ?? null,
  })
  const failure = statement.failure ?? unstated
  return held(open === null ? pastDue : failed(pastDue, { open, failure }, moment))
}

/** Whether it gives no access for want of pay: paused, or as it was sold, suspended. */
function isCutOff({ state: { subscription, open } }: Draft): boolean {
  const { status, graceAccess, suspendedAt } = subscription
  if (graceAccess) return status === 'paused'
  return (
    status === 'past_due' && suspendedAt !== null && open !== null && open.nextAttemptAt === null
  )
}

const unstated: StatedFailure = { attempt: 1, nextAttemptAt: null, needs: 'nothing' }

function isPaidFor(draft: Draft, { currentPeriod }: SubscriptionStatement): boolean {
  const { open, subscription } = draft.state
  if (currentPeriod === null) return open === null && subscription.status === 'active'
  const periods = periodsOf(draft)
  return isGiven(periods, currentPeriod) || periodOfTime(periods, currentPeriod)?.state === 'paid'
}

/** A period fails once; how often it was tried since is kept with it. */
function failed(
  draft: Draft,
  { open, failure }: { readonly open: SubscriptionPeriod; readonly failure: StatedFailure },
  { now }: Moment,
): Draft {
  const { attempt, nextAttemptAt, needs } = failure
  const isNews = open.firstFailedAt === null
  const changes = {
    declines: attempt,
    nextAttemptAt,
    needs,
    firstFailedAt: open.firstFailedAt ?? now,
  }
  const noted = withPeriod(draft, { ...open, ...changes })
  const cut = cutOff(noted, now)
  if (!isNews) return cut
  const data = { periodId: open.id, paymentId: null, attempt, nextAttemptAt, needs }
  const event = { type: 'SubscriptionPaymentFailed', data } as const
  const failing = fired(cut, event)
  if (failing.state.subscription.suspendedAt === null) return failing
  const suspended = { type: 'SubscriptionAccessSuspended', data: { periodId: open.id } } as const
  return fired(failing, suspended)
}

/** A period that is not paid cuts access, if that is wanted. */
function cutOff(draft: Draft, now: Date): Draft {
  const { graceAccess, suspendedAt } = draft.state.subscription
  const isKept = graceAccess || suspendedAt !== null
  return isKept ? draft : withSubscription(draft, { suspendedAt: now })
}

function takePause(draft: Draft, { pauseReason }: SubscriptionStatement): Draft {
  const isPaused = draft.state.subscription.status === 'paused'
  return isPaused ? draft : pause(draft, pauseReason ?? 'requested')
}
