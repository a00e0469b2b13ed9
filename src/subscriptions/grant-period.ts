import type { Moment } from './change.ts'
import { fired, moved, withSubscription, withPeriod, type Draft } from './draft.ts'
import { endOfFirst } from './open-period.ts'
import type { SubscriptionPeriod } from './period.ts'
import { isInTrial } from './standing.ts'
import type { Subscription } from './subscription.ts'
import { dueQuotasAfter, termsOf } from './terms.ts'

/**
 * Grants the open period: for this paid payment, or because it costs nothing (null). It is the only
 * place that makes paid time.
 */
export function grant(draft: Draft, paymentId: string | null, { now }: Moment): Draft {
  const { open } = draft.state
  if (open === null) return draft
  const paid: SubscriptionPeriod = {
    ...open,
    ...timeOfGranted(draft, open, now),
    state: 'paid',
    paidPaymentId: paymentId,
    paidAt: now,
    nextAttemptAt: null,
    needs: 'nothing',
    notMade: 0,
  }
  const opened = announceStart(draft)
  const granted = withPeriod(withSubscription(opened, grantedTo(opened, paid)), paid)
  const renewed = {
    type: 'SubscriptionRenewed',
    data: {
      periodId: paid.id,
      paymentId,
      // Not the status now: a decline may be reported after the payment that made up for it.
      previousStatus: open.firstFailedAt === null ? open.statusBefore : 'past_due',
      skippedPeriods: open.skippedPeriods,
    },
  } as const
  const active = moved(granted, 'active', { reason: 'paid', periodId: paid.id })
  return fired(active, renewed)
}

/** Whether a period begins when it is paid: nobody had the use of it before. */
export function startsWhenPaid({ statusBefore }: SubscriptionPeriod): boolean {
  return statusBefore === 'incomplete' || statusBefore === 'paused'
}

/** A recovered period keeps its boundaries, one paid in a trial begins at the trial's end. */
function timeOfGranted({ state }: Draft, open: SubscriptionPeriod, now: Date) {
  const subscription = { ...state.subscription, ...termsOf(state.subscription, open.number) }
  const { startsAt, endsAt } = open
  if (!startsWhenPaid(open)) return { startsAt, endsAt }
  return { startsAt: now, endsAt: endOfFirst(subscription, now) }
}

/** What ends with the payment: a trial, if its end has not been announced, or a pause. */
function announceStart(draft: Draft): Draft {
  const { state } = draft
  if (isInTrial(state)) return fired(draft, { type: 'TrialEnded', data: { converts: true } })
  if (state.subscription.status !== 'paused') return draft
  return fired(draft, { type: 'SubscriptionResumed', data: {} })
}

function grantedTo({ state }: Draft, paid: SubscriptionPeriod): Partial<Subscription> {
  const { subscription } = state
  const { anchorAt, anchorNumber, nextTerms, paidUntil, cancelAt, pauseAt } = subscription
  const { number, startsAt, endsAt } = paid
  const isTaken = nextTerms !== null && nextTerms.fromNumber <= number
  const isAnchor = anchorAt === null || startsWhenPaid(paid)
  return {
    ...termsOf(subscription, number),
    nextTerms: isTaken ? null : nextTerms,
    dueQuotas: isTaken ? dueQuotasAfter(subscription, nextTerms) : subscription.dueQuotas,
    anchorAt: isAnchor ? startsAt : anchorAt,
    anchorNumber: isAnchor ? number : anchorNumber,
    paidUntil: paidUntil !== null && paidUntil > endsAt ? paidUntil : endsAt,
    // What was planned for the end of paid time waits for the end of the new period.
    cancelAt: cancelAt && endsAt,
    pauseAt: pauseAt && endsAt,
    resumeAt: subscription.status === 'paused' ? null : subscription.resumeAt,
    suspendedAt: null,
    actionError: null,
  }
}
