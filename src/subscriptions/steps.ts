import { hours, minutes } from '../kernel/duration.ts'
import type { Moment, SubscriptionState } from './change.ts'
import { chargeOpen } from './charge-open.ts'
import { waitsForPayer, withClosing, type Draft } from './draft.ts'
import { end, giveUp, pause } from './end-subscription.ts'
import { awaitConfirmation } from './fail-period.ts'
import { startsWhenPaid } from './grant-period.ts'
import { noticeOf, fireNotice } from './notify-end.ts'
import { voidOpen } from './open-period.ts'
import { renew } from './renew.ts'
import { resume } from './resume.ts'
import { dunningEndsAt } from './retry-times.ts'
import { canRenew, isInTrial, isLeftToPayer, wishedAt } from './standing.ts'
import { convertTrial, endTrial } from './trial.ts'

/** Something that is to be done to a subscription, and when. */
export interface Step {
  readonly at: Date
  readonly take: (draft: Draft, moment: Moment) => Draft
}

type Plan = (state: SubscriptionState, moment: Moment) => Step | null

/** How long it waits for what cannot be done now; a payment that is decided wakes it sooner. */
const patience = minutes(15)

/**
 * What is to be done to a subscription, in the order in which it is done: the first that is due.
 * The time of the earliest is when to look at it again.
 */
export function stepsOf(state: SubscriptionState, moment: Moment): readonly Step[] {
  const { status, managedBy } = state.subscription
  if (status === 'canceled' || managedBy === 'provider') return []
  const plans = state.live === null ? plansOfResting : plansOfLive
  return plans.map((plan) => plan(state, moment)).filter((step) => step !== null)
}

/** Null: nothing is to be done, until something happens. */
export function earliest(steps: readonly Step[]): Date | null {
  return steps.reduce<Date | null>((first, { at }) => (first && first <= at ? first : at), null)
}

function confirmation({ live, open }: SubscriptionState, { now }: Moment): Step | null {
  if (live === null || !live.needsPayer || open?.needs === 'confirmation') return null
  return { at: now, take: (draft, moment) => awaitConfirmation(draft, live, moment) }
}

/** A payer who pays himself is waited for until all is over, or a card would be charged. */
function closing(state: SubscriptionState, moment: Moment): Step | null {
  if (state.live === null || !waitsForPayer(state.live)) return null
  const without = { ...state, live: null }
  const plans = state.isCardUsable ? [...endsOfWaiting, ...chargesOfWaiting] : endsOfWaiting
  const at = earliest(plans.map((plan) => plan(without, moment)).filter((step) => step !== null))
  return at && { at, take: withClosing }
}

function waiting(_state: SubscriptionState, { now }: Moment): Step {
  return { at: later(now, patience), take: (draft) => draft }
}

function wishedEnd(state: SubscriptionState): Step | null {
  const { cancelAt } = state.subscription
  if (cancelAt === null) return null
  const at = wishedAt(state, cancelAt)
  const take: Step['take'] = (draft, moment) =>
    isInTrial(state) ? endTrial(draft, 'requested', moment) : end(draft, 'requested', moment)
  return { at, take }
}

function incompleteEnd(
  { subscription: { status, createdAt } }: SubscriptionState,
  { policy }: Moment,
): Step | null {
  if (status !== 'incomplete') return null
  const at = later(createdAt, hours(policy.incompleteHours))
  return { at, take: (draft, moment) => end(draft, 'incomplete', moment) }
}

function trialEnd(state: SubscriptionState): Step | null {
  const { trialEndsAt } = state.subscription
  if (!isInTrial(state) || trialEndsAt === null || canRenew(state)) return null
  return { at: trialEndsAt, take: (draft, moment) => endTrial(draft, 'trial_ended', moment) }
}

/** After the last retry; one that nobody could make yet is waited for until its period is over. */
function dunningEnd({ subscription, open }: SubscriptionState, { policy }: Moment): Step | null {
  if (subscription.status !== 'past_due' || open === null) return null
  const { firstFailedAt, nextAttemptAt, endsAt } = open
  const isOver = nextAttemptAt === null && firstFailedAt !== null
  const { timeZone } = subscription
  const { retryDays } = policy
  const at = isOver ? dunningEndsAt({ firstFailedAt, endsAt, retryDays, timeZone }) : endsAt
  return { at, take: giveUp }
}

function wishedPause(state: SubscriptionState): Step | null {
  const { pauseAt } = state.subscription
  if (pauseAt === null) return null
  return { at: wishedAt(state, pauseAt), take: (draft) => pause(draft, 'requested') }
}

function wishedResumption({ subscription }: SubscriptionState): Step | null {
  const { status, resumeAt } = subscription
  return status === 'paused' && resumeAt !== null ? { at: resumeAt, take: resume } : null
}

/** The payer has left a page that may have been closed without a word to the period. */
function abandoned(state: SubscriptionState, { now }: Moment): Step | null {
  return isLeftToPayer(state) ? { at: now, take: voidOpen } : null
}

function trialConversion(state: SubscriptionState, moment: Moment): Step | null {
  const { trialEndsAt } = state.subscription
  if (!isInTrial(state) || trialEndsAt === null || !canRenew(state)) return null
  return { at: unlessHeld(trialEndsAt, moment), take: convertTrial }
}

function renewal({ subscription, open }: SubscriptionState, moment: Moment): Step | null {
  const { status, paidUntil } = subscription
  if (status !== 'active' || paidUntil === null || open !== null) return null
  return { at: unlessHeld(paidUntil, moment), take: renew }
}

/** A period went by that nobody could charge, and no customer is to blame: it is not charged. */
function lapse(state: SubscriptionState, moment: Moment): Step | null {
  const { open } = state
  if (open === null || isInTrial(state) || startsWhenPaid(open)) return null
  return open.firstFailedAt === null ? { at: unlessHeld(open.endsAt, moment), take: renew } : null
}

function attempt(state: SubscriptionState, moment: Moment): Step | null {
  const at = state.open?.nextAttemptAt ?? null
  if (at === null || isInTrial(state)) return null
  return { at: unlessHeld(at, moment), take: chargeOpen }
}

function notice(state: SubscriptionState, moment: Moment): Step | null {
  const at = noticeOf(state, moment)?.at ?? null
  return at && { at, take: fireNotice }
}

/** While charges are on hold, it is asked again and again whether they still are. */
function unlessHeld(at: Date, { held, now }: Moment): Date {
  const next = later(now, patience)
  return held && at < next ? next : at
}

const later = (time: Date, by: number) => new Date(time.getTime() + by)

/** A payment is live: whatever ends or charges waits until it is decided. */
const plansOfLive: readonly Plan[] = [confirmation, closing, notice, waiting]

const plansOfResting: readonly Plan[] = [
  // Ends.
  wishedEnd,
  incompleteEnd,
  trialEnd,
  dunningEnd,
  // Pauses and their ends.
  wishedPause,
  abandoned,
  wishedResumption,
  // Periods, with their first charge.
  trialConversion,
  renewal,
  lapse,
  // Further charges.
  attempt,
  notice,
]

/** A page that is live when the first payment or a trial is over is waited for: it may be paid. */
const endsOfWaiting: readonly Plan[] = [wishedEnd, dunningEnd, wishedPause]
const chargesOfWaiting: readonly Plan[] = [wishedResumption, trialConversion, lapse, attempt]
