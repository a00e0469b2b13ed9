import type { Moment, SubscriptionState } from './change.ts'
import { fired, withPeriod, type Draft } from './draft.ts'
import { dueNotice, nextNoticeAt, type NoticeFacts } from './notices.ts'
import type { SubscriptionPeriod } from './period.ts'
import { canRenew, isInTrial } from './standing.ts'

interface Announcement {
  /** When its next notice is to fire; null: none is left. */
  readonly at: Date | null
  readonly period: SubscriptionPeriod
  readonly facts: NoticeFacts
}

/** The end that is announced: of a trial, or of what is paid. */
export function noticeOf(state: SubscriptionState, { now, policy }: Moment): Announcement | null {
  const { current, subscription } = state
  const isTrial = isInTrial(state)
  if (current === null || !(isTrial || subscription.status === 'active')) return null
  const facts = {
    startsAt: current.startsAt,
    end: current.endsAt,
    leadDays: isTrial ? policy.trialNoticeDays : policy.periodNoticeDays,
    lastNotice: current.lastNotice,
    timeZone: subscription.timeZone,
  }
  return { at: nextNoticeAt(facts, now), period: current, facts }
}

export function fireNotice(draft: Draft, moment: Moment): Draft {
  const { state } = draft
  const announced = noticeOf(state, moment)
  const notice = announced && dueNotice(announced.facts, moment.now)
  if (announced === null || notice === null) return draft
  const { period } = announced
  const { end } = announced.facts
  const data = { endsAt: end, renews: renewsAt(state, end), notice }
  const noted = withPeriod(draft, { ...period, lastNotice: notice })
  return isInTrial(state)
    ? fired(noted, { type: 'TrialWillEnd', data })
    : fired(noted, { type: 'SubscriptionPeriodEnding', data: { ...data, periodId: period.id } })
}

/** With the notice that is due, if one is. */
export function noticed(draft: Draft, moment: Moment): Draft {
  const at = noticeOf(draft.state, moment)?.at ?? null
  return at !== null && at <= moment.now ? fireNotice(draft, moment) : draft
}

/** Whether it goes on after that end, as things stand. */
function renewsAt(state: SubscriptionState, end: Date): boolean {
  const { cancelAt, pauseAt } = state.subscription
  const isPlanned = [cancelAt, pauseAt].some((planned) => planned !== null && planned <= end)
  return canRenew(state) && !isPlanned
}
